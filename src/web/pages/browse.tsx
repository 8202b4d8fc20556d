import type { FC } from 'hono/jsx'
import { PROMPT_TYPES } from '../../library/fields.ts'
import { Layout } from '../layout.tsx'
import { PromptRows, SkillRows } from '../parts/rows.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { listedCategories, listedPrompts, listedSkills, type PageRequest } from '../request.ts'
import type { Site } from '../site.ts'

const PER_PAGE = 24
const SORTS = ['relevance', 'newest', 'oldest', 'votes'] as const
/** What narrows a list, and stays when something else changes. */
const KEPT = ['q', 'type', 'category', 'tag', 'author', 'sort'] as const

type Kept = { readonly [Name in (typeof KEPT)[number]]?: string | undefined }

/** Prompts, searched and filtered by plain links. */
export async function browsePrompts({ site, call, query }: PageRequest) {
  const kept = readKept(query)
  const [found, { categories }] = await Promise.all([
    call('list_prompts', { ...toInput(kept), page: readPage(query), perPage: PER_PAGE }, listedPrompts),
    call('list_categories', {}, listedCategories),
  ])
  const { words } = site
  return (
    <Layout site={site} title={kept.q || words.prompts} path="/prompts" current="prompts" isIndexed={Object.keys(kept).length === 0}>
      <h1>{words.prompts}</h1>
      <SearchField site={site} kind="prompts" query={kept.q ?? ''} kept={{ ...kept, q: undefined }} />
      <nav aria-label={words.filters}>
        <Choices
          base="/prompts"
          kept={kept}
          name="type"
          label={words.type}
          choices={PROMPT_TYPES.map((type) => [type, words.types[type]])}
          all={words.all}
        />
        <Choices
          base="/prompts"
          kept={kept}
          name="category"
          label={words.category}
          choices={topCategories(categories, 'prompts')}
          all={words.all}
        />
        <Choices base="/prompts" kept={kept} name="sort" label={words.sortedBy} choices={sortChoices(site, kept)} all={null} />
      </nav>
      <Found site={site} base="/prompts" kept={kept} total={found.total} corrected={found.correctedQuery} />
      {found.prompts.length === 0 ? null : <PromptRows site={site} prompts={found.prompts} query={kept.q ?? ''} />}
      <Pages site={site} base="/prompts" kept={kept} page={found.page} pages={found.totalPages} />
    </Layout>
  )
}

/** Skills, in the same way. */
export async function browseSkills({ site, call, query }: PageRequest) {
  const { type: _, ...kept } = readKept(query)
  const [found, { categories }] = await Promise.all([
    call('list_skills', { ...toInput(kept), page: readPage(query), perPage: PER_PAGE }, listedSkills),
    call('list_categories', {}, listedCategories),
  ])
  const { words } = site
  return (
    <Layout site={site} title={kept.q || words.skills} path="/skills" current="skills" isIndexed={Object.keys(kept).length === 0}>
      <h1>{words.skills}</h1>
      <SearchField site={site} kind="skills" query={kept.q ?? ''} kept={{ ...kept, q: undefined }} />
      <nav aria-label={words.filters}>
        <Choices
          base="/skills"
          kept={kept}
          name="category"
          label={words.category}
          choices={topCategories(categories, 'skills')}
          all={words.all}
        />
        <Choices base="/skills" kept={kept} name="sort" label={words.sortedBy} choices={sortChoices(site, kept)} all={null} />
      </nav>
      <Found site={site} base="/skills" kept={kept} total={found.total} corrected={found.correctedQuery} />
      {found.skills.length === 0 ? null : <SkillRows site={site} skills={found.skills} query={kept.q ?? ''} />}
      <Pages site={site} base="/skills" kept={kept} page={found.page} pages={found.totalPages} />
    </Layout>
  )
}

function readKept(query: URLSearchParams): Kept {
  return Object.fromEntries(KEPT.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])))
}

function readPage(query: URLSearchParams): number {
  const page = Number(query.get('page') ?? 1)
  return Number.isSafeInteger(page) ? page : 0
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
  kind: 'prompts' | 'skills',
): [string, string, number][] {
  return categories
    .filter((category) => category.parent === null)
    .map(({ slug, name, ...own }): [string, string, number] => {
      const children = categories.filter((other) => other.parent === slug)
      return [slug, name, children.reduce((sum, child) => sum + child[kind], own[kind])]
    })
    .filter(([, , count]) => count > 0)
}

function sortChoices({ words }: Site, kept: Kept): [string, string][] {
  return SORTS.filter((sort) => sort !== 'relevance' || kept.q !== undefined).map((sort) => [sort, words.sorts[sort]])
}

interface ChoicesProps {
  readonly base: string
  readonly kept: Kept
  readonly name: 'type' | 'category' | 'sort'
  readonly label: string
  readonly choices: readonly (readonly [value: string, text: string, count?: number])[]
  /** What undoes the choice; null where something always holds. */
  readonly all: string | null
}

const Choices: FC<ChoicesProps> = ({ base, kept, name, label, choices, all }) => {
  const chosen = kept[name] ?? (all === null ? (kept.q === undefined ? 'newest' : 'relevance') : undefined)
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

const Found: FC<{ site: Site; base: string; kept: Kept; total: number; corrected: string | undefined }> = ({
  site: { words },
  base,
  kept,
  total,
  corrected,
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
      <p class="quiet">
        {words.found(total)}
        {corrected === undefined ? null : (
          <>
            {'. '}
            {words.didYouMean} <a href={linkTo(base, kept, { q: corrected })}>{corrected}</a>?
          </>
        )}
        {kept.tag === undefined && kept.author === undefined ? null : (
          <>
            {' · '}
            {[kept.tag, kept.author].filter(Boolean).join(' · ')}{' '}
            <a href={linkTo(base, kept, { tag: undefined, author: undefined })}>{words.clearFilters}</a>
          </>
        )}
      </p>
    )}
  </div>
)

const Pages: FC<{ site: Site; base: string; kept: Kept; page: number; pages: number }> = ({ site: { words }, base, kept, page, pages }) =>
  pages <= 1 ? null : (
    <nav class="pages" aria-label={words.pages}>
      {page > 1 ? (
        <a href={linkTo(base, kept, { page: page === 2 ? undefined : String(page - 1) })} rel="prev">
          {words.previous}
        </a>
      ) : null}
      <span class="quiet">{words.pageOf(page, pages)}</span>
      {page < pages ? (
        <a href={linkTo(base, kept, { page: String(page + 1) })} rel="next">
          {words.next}
        </a>
      ) : null}
    </nav>
  )
