import type { FC } from 'hono/jsx'
import { PROMPT_TYPES } from '../../../library/fields.ts'
import { listCategories, listTags } from '../../../operations/items/list-categories.ts'
import { listPrompts, listSkills } from '../../../operations/prompts/list-prompts.ts'
import { readMarks } from '../../../search/analysis/mark-words.ts'
import { Layout } from '../../layout.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { PromptRows, SkillRows } from '../../parts/rows.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { type PageRequest, readPageNumber } from '../../request.ts'
import type { Site } from '../../site.ts'

const PER_PAGE = 24
/** Most hits that a list gives at once. */
const MAX_PER_PAGE = 100
/** Tags offered, the most used ones. */
const TAGS = 12
const SORTS = ['relevance', 'newest', 'oldest', 'votes'] as const
/** What narrows a list, and stays when something else changes. */
const KEPT = ['q', 'type', 'category', 'tag', 'author', 'sort'] as const

type Kind = 'prompts' | 'skills'
type Kept = { readonly [Name in (typeof KEPT)[number]]?: string | undefined }

/** A list of one kind, searched and filtered by plain links. */
export function browse(kind: Kind) {
  return async ({ site, call, query }: PageRequest) => {
    const kept = readKept(kind, query)
    const [found, { categories }, { tags }] = await Promise.all([
      find(kind, call, { ...toInput(kept), page: readPageNumber(query), perPage: PER_PAGE }),
      call(listCategories, {}),
      call(listTags, { perPage: TAGS }),
    ])
    const { words } = site
    const base = `/${kind}`
    const types = PROMPT_TYPES.map((type): [string, string] => [type, words.types[type]])
    // Results of a corrected query hold its words, not those that were typed.
    const marks = readMarks(found.correctedQuery ?? kept.q ?? '')
    const isAllNear = await isNearAlone(kind, call, toInput(kept), found)
    const inner = innerCategories(categories, kind, kept.category)
    return (
      <Layout site={site} title={kept.q || words[kind]} path={base} current={kind} isIndexed={Object.keys(kept).length === 0}>
        <h1>{words[kind]}</h1>
        <SearchField site={site} kind={kind} query={kept.q ?? ''} kept={{ ...kept, q: undefined }} />
        <nav aria-label={words.filters}>
          {kind === 'prompts' ? <Choices base={base} kept={kept} name="type" label={words.type} choices={types} all={words.all} /> : null}
          <Choices
            base={base}
            kept={kept}
            name="category"
            label={words.category}
            choices={topCategories(categories, kind)}
            all={words.all}
          />
          <Choices base={base} kept={kept} name="category" label={words.category} choices={inner} all={null} />
          <Choices base={base} kept={kept} name="tag" label={words.tags} choices={tags.map(({ slug, name }) => [slug, name])} all={null} />
          <Choices base={base} kept={kept} name="sort" label={words.sortedBy} choices={sortChoices(site, kept)} all={null} />
        </nav>
        <Found site={site} base={base} kept={kept} total={found.total} corrected={found.correctedQuery} isAllNear={isAllNear} />
        {found.prompts.length === 0 ? null : <PromptRows site={site} prompts={found.prompts} marks={marks} />}
        {found.skills.length === 0 ? null : <SkillRows site={site} skills={found.skills} marks={marks} />}
        <PageLinks
          site={site}
          page={found.page}
          pages={found.totalPages}
          toUrl={(page) => linkTo(base, kept, { page: page === 1 ? undefined : String(page) })}
        />
      </Layout>
    )
  }
}

/** What was found; of the other kind there is nothing. */
async function find(kind: Kind, call: PageRequest['call'], input: Record<string, unknown>) {
  return kind === 'prompts' ? { ...(await call(listPrompts, input)), skills: [] } : { ...(await call(listSkills, input)), prompts: [] }
}

/** Whether no item that was found holds a word of the query. Such items are few, so one more page of hits tells. */
async function isNearAlone(kind: Kind, call: PageRequest['call'], input: Record<string, unknown>, found: Awaited<ReturnType<typeof find>>) {
  const areNear = (hits: Pick<typeof found, 'prompts' | 'skills'>) =>
    [...hits.prompts, ...hits.skills].every(({ approximate }) => approximate)
  const shown = found.prompts.length + found.skills.length
  if (shown === 0 || !areNear(found)) return false
  if (shown === found.total) return true
  return found.total <= MAX_PER_PAGE && areNear(await find(kind, call, { ...input, page: 1, perPage: MAX_PER_PAGE }))
}

/** Skills have no type. */
function readKept(kind: Kind, query: URLSearchParams): Kept {
  const names = KEPT.filter((name) => kind === 'prompts' || name !== 'type')
  return Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])))
}

function toInput({ tag, ...kept }: Kept): Record<string, unknown> {
  return { ...kept, ...(tag === undefined ? {} : { tag: tag.split(',') }) }
}

/** The same list with something changed, from its first page. */
function linkTo(base: string, kept: Kept, change: Record<string, string | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...kept, ...change })) if (value !== undefined) query.set(name, value)
  return query.size === 0 ? base : `${base}?${query}`
}

function topCategories(
  categories: readonly { slug: string; name: string; parent: string | null; prompts: number; skills: number }[],
  kind: Kind,
): [string, string, number][] {
  return categories
    .filter((category) => category.parent === null)
    .map(({ slug, name, ...own }): [string, string, number] => {
      const children = categories.filter((other) => other.parent === slug)
      return [slug, name, children.reduce((sum, child) => sum + child[kind], own[kind])]
    })
    .filter(([, , count]) => count > 0)
}

/** Children of the chosen category, or its siblings. */
function innerCategories(
  categories: readonly { slug: string; name: string; parent: string | null; prompts: number; skills: number }[],
  kind: Kind,
  chosen: string | undefined,
): [string, string, number][] {
  const found = categories.find(({ slug }) => slug === chosen)
  if (!found) return []
  const above = found.parent ?? found.slug
  return categories
    .filter((category) => category.parent === above && category[kind] > 0)
    .map((category): [string, string, number] => [category.slug, category.name, category[kind]])
}

function sortChoices({ words }: Site, kept: Kept): [string, string][] {
  return SORTS.filter((sort) => sort !== 'relevance' || kept.q !== undefined).map((sort) => [sort, words.sorts[sort]])
}

interface ChoicesProps {
  readonly base: string
  readonly kept: Kept
  readonly name: 'type' | 'category' | 'tag' | 'sort'
  readonly label: string
  readonly choices: readonly (readonly [value: string, text: string, count?: number])[]
  /** What undoes the choice; null where something always holds. */
  readonly all: string | null
}

const Choices: FC<ChoicesProps> = ({ base, kept, name, label, choices, all }) => {
  const chosen = kept[name] ?? (name === 'sort' ? (kept.q === undefined ? 'newest' : 'relevance') : undefined)
  if (choices.length === 0) return null
  return (
    <ul class="filters" aria-label={label}>
      {all === null ? null : (
        <li>
          <a href={linkTo(base, kept, { [name]: undefined })} aria-current={chosen === undefined ? 'true' : undefined}>
            {all}
          </a>
        </li>
      )}
      {choices.map(([value, text, count]) => (
        <li>
          <a href={linkTo(base, kept, { [name]: value })} aria-current={chosen === value ? 'true' : undefined}>
            {text}
            {count === undefined ? null : ` ${count.toLocaleString('en')}`}
          </a>
        </li>
      ))}
    </ul>
  )
}

const Found: FC<{ site: Site; base: string; kept: Kept; total: number; corrected: string | undefined; isAllNear: boolean }> = ({
  site: { words },
  base,
  kept,
  total,
  corrected,
  isAllNear,
}) => (
  <div aria-live="polite">
    {total === 0 ? (
      <section>
        <h2>{words.nothingFound}</h2>
        <p class="prose">
          {words.nothingFoundHelp} <a href={base}>{words.clearFilters}</a>
        </p>
      </section>
    ) : (
      <div class="quiet found">
        <h2>{words.found(total)}</h2>
        {corrected === undefined ? null : (
          <>
            {'. '}
            {words.showingResultsFor} <a href={linkTo(base, kept, { q: corrected })}>{corrected}</a>
          </>
        )}
        {isAllNear ? `. ${words.allNearInMeaning}` : null}
        <Narrowed words={words} base={base} kept={kept} />
      </div>
    )}
  </div>
)

/** Active tag and author filters, each with a link that removes it. */
const Narrowed: FC<{ words: Site['words']; base: string; kept: Kept }> = ({ words, base, kept }) => {
  const narrowings = [
    ['tag', kept.tag && words.reading.onlyTag(kept.tag)],
    ['author', kept.author && words.reading.onlyAuthor(kept.author)],
  ] as const
  return (
    <>
      {narrowings.map(([name, shown]) =>
        shown ? (
          <>
            {' · '}
            {shown} <a href={linkTo(base, kept, { [name]: undefined })}>{words.reading.remove}</a>
          </>
        ) : null,
      )}
    </>
  )
}
