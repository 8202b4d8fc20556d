import type { Child, FC } from 'hono/jsx'
import type { z } from 'zod'
import type { listedPrompt, listedSkill } from '../../operations/core/records.ts'
import { findFavourites } from '../../operations/items/marks.ts'
import type { Marks } from '../../search/analysis/mark-words.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { drawOnce, LinkItem, Section } from './controls.tsx'
import { Ago, authorPath } from './facts.tsx'
import { type DrawnText, drawRowText } from './row-text.ts'

type ListedPrompt = z.infer<typeof listedPrompt>
type ListedSkill = z.infer<typeof listedSkill>

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
      return <ItemRow {...shared} item={item} />
    })}
  </ol>
)

/** Prompts and skills as rows, each kind in a list of its own. */
export const ItemRows: FC<ListProps & { prompts?: readonly ListedPrompt[]; skills?: readonly ListedSkill[] }> = ({
  prompts = [],
  skills = [],
  marks = null,
  stars = null,
  selected = null,
  site,
}) => {
  const shared = { site, marks, stars, selected }
  return (
    <>
      {[prompts, skills].map((items) =>
        items.length === 0 ? null : (
          <ol class="rows">
            {items.map((item) => (
              <ItemRow {...shared} item={item} />
            ))}
          </ol>
        ),
      )}
    </>
  )
}

interface ShortListProps extends ListProps {
  readonly title: string
  readonly prompts?: readonly ListedPrompt[]
  readonly skills?: readonly ListedSkill[]
  /** Below it: the way to all. */
  readonly children?: Child
}

/** A few items under a heading; nothing without any. */
export const ShortList: FC<ShortListProps> = ({ title, children, prompts = [], skills = [], ...list }) =>
  prompts.length + skills.length === 0 ? null : (
    <Section title={title}>
      <ItemRows prompts={prompts} skills={skills} {...list} />
      {children ? <p>{children}</p> : null}
    </Section>
  )

type OneRow = Pick<RowProps, 'site' | 'stars' | 'selected' | 'controls'> & { readonly marks: Marks | null }

const ItemRow: FC<OneRow & { item: ListedPrompt | ListedSkill }> = ({ item, ...row }) =>
  'files' in item ? <SkillRow {...row} skill={item} /> : <PromptRow {...row} prompt={item} />

const PromptRow: FC<OneRow & { prompt: ListedPrompt }> = ({ prompt, marks, ...row }) => {
  const { title, description, content, approximate = false } = prompt
  const text = drawRowText(prompt.id, { title, description, content }, marks, approximate)
  // Not all variables of a text that was cut are in it.
  const blanks = prompt.contentTruncated ? 0 : text.blanks
  return (
    <Row {...row} kind="prompts" item={prompt} type={prompt.type} text={text} counted={blanks}>
      {/* A description says more, unless words of the query are in the text. */}
      {prompt.description !== null && marks === null ? null : (
        <p class="first-words" dir="auto">
          {text.words}
        </p>
      )}
    </Row>
  )
}

const SkillRow: FC<OneRow & { skill: ListedSkill }> = ({ skill, marks, ...row }) => {
  const { title, description } = skill
  const text = drawRowText(skill.id, { title, description, content: null }, marks, skill.approximate ?? false)
  return <Row {...row} kind="skills" item={skill} type={null} text={text} counted={skill.files.length} />
}

interface RowProps {
  readonly site: Site
  readonly kind: 'prompts' | 'skills'
  readonly item: ListedPrompt | ListedSkill
  /** Of a prompt. */
  readonly type: ListedPrompt['type'] | null
  readonly text: DrawnText
  /** Blanks of a prompt, files of a skill. */
  readonly counted: number
  readonly stars: Stars
  readonly selected: ReadonlySet<string> | null
  readonly children?: Child
  /** The actions of its reader in this list. */
  readonly controls?: Child
}

/** An item in a list: its title, its facts on one line, its description, and more. The script finds the parts by `data-row`. */
const Row: FC<RowProps> = ({ site, kind, item, type, text, counted, stars, selected, children, controls = null }) => (
  <li data-row={kind} id={controls === null ? undefined : `item-${item.id}`}>
    {selected === null ? null : (
      <label class="pick">
        <input
          type="checkbox"
          form="bulk"
          name="ids"
          value={item.id}
          checked={selected.has(item.id)}
          aria-label={site.words.library.select(item.title)}
        />
      </label>
    )}
    <h3 dir="auto">
      <a href={`/${kind}/${item.slug}`}>{text.title}</a>
    </h3>
    {drawFacts(site.words, kind, item, type, counted)}
    {text.description === null ? null : (
      <p class="description" dir="auto">
        {text.description}
      </p>
    )}
    {children}
    {stars === null ? null : <Star site={site} kind={kind} item={item} stars={stars} />}
    {controls}
  </li>
)

/** The line of facts, which is the same for every query and reader. */
function drawFacts(words: Site['words'], kind: RowProps['kind'], item: RowProps['item'], type: RowProps['type'], counted: number) {
  const { visibility, approximate = false, category, categorySlug, author, votes, createdAt, labels = [] } = item
  const key = JSON.stringify([kind, visibility, approximate, category, categorySlug, author, type, counted, votes, createdAt, labels])
  return drawOnce(words, key, () => (
    <ul class="facts line">
      {visibility === 'public' ? null : <li>{words.visibilities[visibility]}</li>}
      {approximate ? <li>{words.similar}</li> : null}
      {labels.map((label) => (
        <LinkItem to={`/${kind}?label=${label}`} look="label-name" text={label} />
      ))}
      {category === null ? null : <LinkItem to={`/${kind}?category=${categorySlug}`} text={category} />}
      <LinkItem to={authorPath(author)} text={author} />
      {type === null || type === 'TEXT' ? null : <li class="kind">{words.types[type]}</li>}
      {kind === 'skills' ? <li>{words.fileCount(counted)}</li> : null}
      {kind === 'prompts' && counted > 0 ? <li>{words.find.blanks(counted)}</li> : null}
      {votes > 0 ? <li>{words.votes(votes)}</li> : null}
      <li>
        <Ago words={words} at={createdAt} />
      </li>
    </ul>
  ))
}

/** The ids of the reader's favourites among the items of a page; null for anonymous readers, who see no stars. */
export type Stars = ReadonlySet<string> | null

/** Reads which of the items of a page have a star. */
export async function readStars(
  { site, call }: Pick<PageRequest, 'site' | 'call'>,
  ...lists: readonly (readonly { readonly id: string }[])[]
): Promise<Stars> {
  if (!site.reader) return null
  const ids = lists.flat().map(({ id }) => id)
  return new Set((await call(findFavourites, { ids })).ids)
}

interface StarProps {
  readonly site: Site
  readonly kind: 'prompts' | 'skills'
  readonly item: { readonly id: string; readonly title: string }
  readonly stars: ReadonlySet<string>
}

/** Marks an item of a list as a favourite, or removes the mark, and comes back to the list; the script does it in place. */
const Star: FC<StarProps> = ({ site: { words, path }, kind, item: { id, title }, stars }) => {
  const isMarked = stars.has(id)
  return (
    <form method="post" action={`/${kind}/${id}`} class="star">
      <input type="hidden" name="back" value={path} />
      <button
        type="submit"
        name="do"
        value={isMarked ? 'unfavourite' : 'favourite'}
        aria-label={words.favouriteOf(title)}
        aria-pressed={isMarked ? 'true' : 'false'}
      />
    </form>
  )
}
