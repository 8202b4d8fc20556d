import type { FC } from 'hono/jsx'
import { OWN_SORTS } from '../../../domain/items/search.ts'
import { VISIBILITIES } from '../../../domain/items/visibility.ts'
import { nameOwnCollections } from '../../../operations/collections/collections.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listCategories } from '../../../operations/items/list-categories.ts'
import { listOwnItems } from '../../../operations/items/own-items.ts'
import { listTeams } from '../../../operations/teams/teams.ts'
import { readMarks } from '../../../search/analysis/mark-words.ts'
import { Layout } from '../../layout.tsx'
import { BulkBar, BulkQuestion, BulkReport, changeTogether, readQuestion, readReport } from '../../parts/bulk-bar.tsx'
import { Link, LinkItem, Sorts, Tabs } from '../../parts/controls.tsx'
import { Alert, Done } from '../../parts/field.tsx'
import { type FilterGroup, Filters, PageLinks, toListUrl } from '../../parts/lists.tsx'
import { ItemRows, readStars } from '../../parts/rows.tsx'
import { type Action, type PageRequest, readListPage } from '../../request.ts'
import type { Site } from '../../site.ts'

const PER_PAGE = 50
const COLLECTIONS = ['prompts', 'skills'] as const

/** The query of a view of one's own items, as operations take it. */
function readView(query: URLSearchParams) {
  const text = (name: string) => query.get(name)?.slice(0, 200) || undefined
  return {
    collection: COLLECTIONS.find((one) => one === query.get('kind')) ?? 'prompts',
    owner: text('owner'),
    q: query.get('q') ?? '',
    visibility: VISIBILITIES.find((one) => one === query.get('visibility')),
    category: text('category'),
    tag: text('tag'),
    label: text('label'),
    sort: OWN_SORTS.find((one) => one === query.get('sort')),
  } as const
}
type View = ReturnType<typeof readView>

/** No filter of a view. */
const WHOLE = { visibility: undefined, category: undefined, tag: undefined, label: undefined }

/** The address of a view, from its first page unless `page` is given. */
function linkTo({ collection, q, ...view }: View, page = 1): string {
  return toListUrl('/library', { kind: collection === 'prompts' ? '' : collection, q, ...view }, page)
}

/** The reader's own items of every visibility: searched, filtered, and changed together. */
export async function showLibrary(request: PageRequest) {
  const { site, words, call, query, sent } = request
  const view = readView(query)
  const [found, { categories }, report, question, { teams }, { collections }] = await Promise.all([
    readListPage(request, (page) => call(listOwnItems, { ...view, page, perPage: PER_PAGE })),
    call(listCategories, { all: true }),
    readReport(request),
    readQuestion(request),
    call(listTeams, {}),
    call(nameOwnCollections, {}),
  ])
  if ('to' in found) return found
  const stars = await readStars(request, found.prompts, found.skills)
  const marks = view.q === '' ? null : readMarks(view.q)
  const active = [view.visibility, view.category, view.tag, view.label].filter((value) => value !== undefined).length
  const isWhole = view.q === '' && active === 0
  const here = linkTo(view, found.page)
  const addTo = `${view.collection === 'prompts' ? '/new' : '/new/skill'}${view.owner === undefined ? '' : `?owner=${encodeURIComponent(view.owner)}`}`
  const selected = new Set(sent?.form.all('ids') ?? [])
  return (
    <Layout
      site={site}
      title={words.myLibrary}
      search={{ list: 'library', query: view.q, kept: { kind: query.get('kind') ?? undefined, owner: view.owner, sort: view.sort } }}
    >
      <h1 class="list-head">{words.myLibrary}</h1>
      <Done words={words} query={query} sent={sent} />
      <BulkReport site={site} report={report} here={here} />
      <BulkQuestion site={site} question={question} here={here} />
      {sent ? <Alert text={sent.fault.message} /> : null}
      <div class="list" data-results>
        <Filters
          words={words}
          groups={toGroups(words, view, found.counts, categories)}
          active={active}
          clear={linkTo({ ...view, ...WHOLE })}
        />
        <div>
          {teams.length === 0 ? null : <Owners site={site} view={view} teams={teams.map(({ name }) => name)} />}
          <Head site={site} view={view} total={found.total} isWhole={isWhole} addTo={addTo} />
          {found.total > 0 ? (
            <BulkBar
              site={site}
              here={here}
              total={found.total}
              categories={categories}
              tags={found.counts.tags.map(({ name }) => name)}
              collections={collections}
              shown={found.prompts.length + found.skills.length}
              sent={sent}
            />
          ) : isWhole ? (
            <div class="actions">
              <Link to={addTo} look="button first" text={view.collection === 'prompts' ? words.newPrompt : words.newSkill} />
              <Link to="/import" look="button" text={words.importing.menu} />
            </div>
          ) : null}
          <ItemRows site={site} {...found} marks={marks} stars={stars} selected={selected} />
          <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => linkTo(view, page)} />
        </div>
      </div>
    </Layout>
  )
}

/** The owner of the shown items: the reader, or a team. */
const Owners: FC<{ site: Site; view: View; teams: readonly string[] }> = ({ site: { words }, view, teams }) => (
  <Tabs
    label={words.owner}
    look="filters"
    of={[
      [linkTo({ ...view, owner: undefined, ...WHOLE }), words.ownedByYourself, view.owner === undefined],
      ...teams.map((owner) => [linkTo({ ...view, owner, ...WHOLE }), words.teamNamed(owner), owner === view.owner] as const),
      view.owner === undefined
        ? ['/teams', words.teams.yours, false]
        : [`/teams/${encodeURIComponent(view.owner)}`, words.teams.manageLink, false],
    ]}
  />
)

/** The kinds, ways to add and to look elsewhere, how much there is, and the order. */
function Head({
  site: { words },
  view,
  total,
  isWhole,
  addTo,
}: {
  site: Site
  view: View
  total: number
  isWhole: boolean
  addTo: string
}) {
  const chosen = view.sort ?? (view.q === '' ? 'updated' : 'relevance')
  const sorts = OWN_SORTS.filter((sort) => sort !== 'relevance' || view.q !== '')
  return (
    <>
      <ul class="filters tabs">
        {COLLECTIONS.map((collection) => (
          <LinkItem to={linkTo({ ...view, collection })} current={collection === view.collection && 'true'} text={words[collection]} />
        ))}
        <LinkItem to="/favourites" text={words.favourites} />
        <LinkItem to="/trash" text={words.trash} />
        <LinkItem to={addTo} text={view.collection === 'prompts' ? words.newPrompt : words.newSkill} />
      </ul>
      <div class="summary">
        <div class="found">
          <h2>{total > 0 ? words.find.counts[view.collection](total) : isWhole ? words.nothingYet : words.library.noMatches}</h2>
        </div>
        {total === 0 ? null : (
          <Sorts label={words.sortedBy} of={sorts.map((sort) => [linkTo({ ...view, sort }), words.library.sorts[sort], chosen === sort])} />
        )}
      </div>
    </>
  )
}

/** The filters with what each choice finds. */
function toGroups(
  words: Site['words'],
  view: View,
  counts: Output<typeof listOwnItems>['counts'],
  categories: Output<typeof listCategories>['categories'],
): FilterGroup[] {
  const names = new Map(categories.map(({ slug, name }) => [slug, name]))
  const withChosen = (choices: FilterGroup['choices'], chosen: string | undefined) =>
    chosen === undefined || choices.some(({ value }) => value === chosen)
      ? choices
      : [...choices, { value: chosen, name: chosen, count: 0 }]
  const groups = [
    {
      name: 'visibility',
      label: words.visibility,
      choices: VISIBILITIES.flatMap((value) => {
        const count = counts.visibilities.find(({ visibility }) => visibility === value)?.count ?? 0
        return count === 0 && view.visibility !== value ? [] : [{ value, name: words.visibilities[value], count }]
      }),
    },
    {
      name: 'category',
      label: words.category,
      choices: counts.categories.map(({ slug, count }) => ({ value: slug, name: names.get(slug) ?? slug, count })),
    },
    { name: 'tag', label: words.tags, choices: counts.tags.map(({ slug, name, count }) => ({ value: slug, name, count })) },
    { name: 'label', label: words.labels.labels, choices: counts.labels.map(({ name, count }) => ({ value: name, name, count })) },
  ] as const
  return groups.flatMap(({ name, label, choices }) => {
    const chosen = view[name]
    const shown = withChosen(choices, chosen)
    return shown.length === 0 ? [] : [{ label, chosen, choices: shown, toUrl: (value) => linkTo({ ...view, [name]: value }) }]
  })
}

/** Changes the selected items together; the view stays as it is. */
export const changeLibrary: Action = (request) => {
  const view = readView(request.query)
  return changeTogether(request, view, linkTo(view, Number(request.query.get('page') ?? 1) || 1))
}
