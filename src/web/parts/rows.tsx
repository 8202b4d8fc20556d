import type { Child, FC } from 'hono/jsx'
import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import { type FirstWords, firstWords } from '../../library/first-words.ts'
import type { listedPrompt, listedSkill } from '../../operations/core/records.ts'
import type { Marks } from '../../search/analysis/mark-words.ts'
import type { Site } from '../site.ts'
import { Ago } from './ago.tsx'
import { authorPath } from './facts.tsx'
import { Highlight } from './highlight.tsx'
import { findPassage, hasMarks } from './passage.ts'
import { Star, type Stars } from './star.tsx'

type ListedPrompt = z.infer<typeof listedPrompt>
type ListedSkill = z.infer<typeof listedSkill>

/** About how much of a text one line of a row shows, in UTF-16 units. */
const ONE_LINE = 100
/** Size of the cache of first words: the texts they were made of, in UTF-16 units. */
const MAX_CACHED = 4_000_000

interface ListProps {
  readonly site: Site
  /** Words of the query, to be marked. */
  readonly marks?: Marks | null
  /** Default: none are shown */
  readonly stars?: Stars
  /** The ids of those that are selected for the form `bulk`. Default: none can be */
  readonly selected?: ReadonlySet<string> | null
}

/** Rows of both kinds, in their order. `controls` stand at the end of each. */
export const MixedRows: FC<
  Pick<ListProps, 'site' | 'stars'> & {
    readonly items: readonly (({ kind: 'prompt' } & ListedPrompt) | ({ kind: 'skill' } & ListedSkill))[]
    /** Number of the first. */
    readonly start: number
    controls(item: ListedPrompt | ListedSkill, place: number): Child
  }
> = ({ site, items, stars = null, start, controls }) => (
  <ol class="rows" start={start}>
    {items.map((item, place) => {
      const shared = { site, marks: null, stars, selected: null, controls: controls(item, place) }
      return item.kind === 'prompt' ? <PromptRow {...shared} prompt={item} /> : <SkillRow {...shared} skill={item} />
    })}
  </ol>
)

/** Prompts as rows. */
export const PromptRows: FC<ListProps & { prompts: readonly ListedPrompt[] }> = ({
  site,
  prompts,
  marks = null,
  stars = null,
  selected = null,
}) => (
  <ol class="rows">
    {prompts.map((prompt) => (
      <PromptRow site={site} prompt={prompt} marks={marks} stars={stars} selected={selected} />
    ))}
  </ol>
)

type OneRow = Pick<RowProps, 'site' | 'marks' | 'stars' | 'selected' | 'controls'>

const PromptRow: FC<OneRow & { prompt: ListedPrompt }> = ({ prompt, ...row }) => {
  const { site, marks } = row
  const { pieces, blanks, isPassage } = readWords(prompt, marks)
  return (
    <Row
      {...row}
      kind="prompts"
      item={prompt}
      facts={
        <>
          {prompt.type === 'TEXT' ? null : <li class="kind">{site.words.types[prompt.type]}</li>}
          {/* Not all variables of a text that was cut are in it. */}
          {blanks === 0 || prompt.contentTruncated ? null : <li>{site.words.find.blanks(blanks)}</li>}
        </>
      }
    >
      {/* A description says more, unless words of the query are in the text. */}
      {prompt.description !== null && marks === null ? null : (
        <p class="first-words" dir="auto">
          {isPassage ? '… ' : null}
          {pieces.map((piece) =>
            'text' in piece ? (
              <Highlight text={piece.text} marks={marks} />
            ) : (
              <span class="chip">
                <Highlight text={piece.blank} marks={marks} />
              </span>
            ),
          )}
        </p>
      )}
    </Row>
  )
}

/** The first words of a prompt. When nothing of the query would be marked in its row, a passage of its text that shows why it was found. */
function readWords({ title, description, content, approximate }: ListedPrompt, marks: Marks | null) {
  const first = readFirstWords(content, title)
  const words = first.pieces.map((piece) => ('text' in piece ? piece.text : piece.blank)).join('')
  const shown = `${title} ${description?.slice(0, ONE_LINE) ?? ''} ${words.slice(0, ONE_LINE)}`.toWellFormed()
  // What is near in meaning alone holds none of the words.
  const start = marks === null || approximate || hasMarks(shown, marks) ? 0 : findPassage(content, marks)
  return start === 0
    ? { ...first, isPassage: false }
    : { pieces: firstWords(content.slice(start)).pieces, blanks: first.blanks, isPassage: true }
}

/** First words of texts that were listed lately, by title and text: making them takes longer than the rest of a row. */
const cachedWords = new LRUCache<string, FirstWords>({ maxSize: MAX_CACHED, sizeCalculation: (_, key) => key.length })

function readFirstWords(content: string, title: string): FirstWords {
  const key = `${title}\n${content}`
  const words = cachedWords.get(key) ?? firstWords(content, title)
  cachedWords.set(key, words)
  return words
}

/** Skills as rows. */
export const SkillRows: FC<ListProps & { skills: readonly ListedSkill[] }> = ({
  site,
  skills,
  marks = null,
  stars = null,
  selected = null,
}) => (
  <ol class="rows">
    {skills.map((skill) => (
      <SkillRow site={site} skill={skill} marks={marks} stars={stars} selected={selected} />
    ))}
  </ol>
)

const SkillRow: FC<OneRow & { skill: ListedSkill }> = ({ skill, ...row }) => (
  <Row {...row} kind="skills" item={skill} facts={<li>{row.site.words.fileCount(skill.files.length)}</li>} />
)

interface RowProps {
  readonly site: Site
  readonly kind: 'prompts' | 'skills'
  readonly item: ListedPrompt | ListedSkill
  readonly marks: Marks | null
  readonly stars: Stars
  readonly selected: ReadonlySet<string> | null
  /** Facts of this kind alone, as list items. */
  readonly facts: Child
  readonly children?: Child
  /** What its reader can do with it in this list. */
  readonly controls?: Child
}

/** An item in a list: its title, its facts on one line, its description, and more. The script finds the parts by `data-row`. */
const Row: FC<RowProps> = ({ site, kind, item, marks, stars, selected, facts, children, controls = null }) => {
  const { words } = site
  return (
    <li data-row={kind} id={controls === null ? undefined : `item-${item.id}`}>
      {selected === null ? null : (
        <label class="pick">
          <input
            type="checkbox"
            form="bulk"
            name="ids"
            value={item.id}
            checked={selected.has(item.id)}
            aria-label={words.library.select(item.title)}
          />
        </label>
      )}
      <h3 dir="auto">
        <a href={`/${kind}/${item.slug}`}>
          <Highlight text={item.title} marks={marks} />
        </a>
      </h3>
      <ul class="facts line">
        {item.visibility === 'public' ? null : <li>{words.visibilities[item.visibility]}</li>}
        {item.approximate ? <li>{words.nearInMeaning}</li> : null}
        {item.category === null ? null : (
          <li>
            <a href={`/${kind}?category=${item.categorySlug}`}>{item.category}</a>
          </li>
        )}
        <li>
          <a href={authorPath(item.author)}>{item.author}</a>
        </li>
        {facts}
        {item.votes > 0 ? <li>{words.votes(item.votes)}</li> : null}
        <li>
          <Ago words={words} at={item.createdAt} />
        </li>
      </ul>
      {item.description === null ? null : (
        <p class="description" dir="auto">
          <Highlight text={item.description} marks={marks} />
        </p>
      )}
      {children}
      <Star site={site} kind={kind} item={item} stars={stars} />
      {controls}
    </li>
  )
}
