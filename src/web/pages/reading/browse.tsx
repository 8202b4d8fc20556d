import type { FC } from 'hono/jsx'
import { PROMPT_TYPES } from '../../../domain/items/fields.ts'
import { AppError } from '../../../errors.ts'
import { nameOwnCollections, showCollection } from '../../../operations/collections/collections.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listCategories } from '../../../operations/items/list-categories.ts'
import { browseFavourites } from '../../../operations/items/marks.ts'
import { browseItems } from '../../../operations/items/search-items.ts'
import { readMarks } from '../../../search/analysis/mark-words.ts'
import { Layout } from '../../layout.tsx'
import { Link, Section, Sorts, Tabs } from '../../parts/controls.tsx'
import { type FilterGroup, Filters, NothingYet, PageLinks, ResultTabs, toListUrl } from '../../parts/lists.tsx'
import { TitledPage } from '../../parts/page-frames.tsx'
import { ItemRows, readStars } from '../../parts/rows.tsx'
import { type PageRequest, readListPage } from '../../request.ts'
import type { Site } from '../../site.ts'
import { formatsOf } from '../../strings/formats.ts'

const PER_PAGE = 24
const SORTS = ['relevance', 'newest', 'oldest', 'votes'] as const
/** The filters of a list that stay when something else changes. */
const KEPT = ['q', 'type', 'category', 'tag', 'author', 'collections', 'label', 'sort'] as const
const FILTERS = ['type', 'category', 'tag', 'author', 'collections', 'label'] as const

type Kind = 'prompts' | 'skills'
type Kept = { readonly [Name in (typeof KEPT)[number]]?: string | undefined }
type Found = Output<typeof browseItems>
type Categories = Output<typeof listCategories>['categories']

/** A list of one kind, searched and filtered by plain links. */
export function browse(kind: Kind) {
  return async (request: PageRequest) => {
    const { site, words, call, query } = request
    const kept = readKept(kind, query)
    refuseUnknown(words, kept)
    const find = (page: number) => call(browseItems, { ...toInput(kept), collection: kind, page, perPage: PER_PAGE })
    const [found, { categories }] = await Promise.all([readListPage(request, find), call(listCategories, {})])
    if ('to' in found) return found
    const stars = await readStars(request, found.prompts, found.skills)
    const own = site.reader ? await call(nameOwnCollections, {}) : { collections: [] }
    const base = `/${kind}`
    // Results of a corrected query hold its words, not those that were typed.
    const marks = readMarks(found.correctedQuery ?? kept.q ?? '')
    const active = FILTERS.filter((name) => kept[name] !== undefined)
    const isWhole = kept.q === undefined && active.length === 0
    return (
      <Layout
        site={site}
        title={kept.q || words[kind]}
        description={words.find.aboutLists[kind]}
        path={base}
        isIndexed={Object.keys(kept).length === 0}
        search={{ list: kind, query: kept.q, kept: { ...kept, q: undefined } }}
      >
        <h1 class="list-head">{words[kind]}</h1>
        {isWhole && found.total === 0 ? (
          <NothingYet site={site} kind={kind} />
        ) : (
          <div class="list" data-results>
            <Filters
              words={words}
              groups={[...toGroups(words, kind, kept, found, categories), ...toCollectionGroup(words, kind, kept, own.collections)]}
              active={active.length}
              clear={toListUrl(base, { q: kept.q, sort: kept.sort })}
            />
            <div>
              {kept.q === undefined ? null : <ResultTabs words={words} current={kind} query={kept.q} />}
              <Summary site={site} kind={kind} kept={kept} found={found} titles={await readTitles(request, kept.collections)} />
              <ItemRows site={site} {...found} marks={marks} stars={stars} />
              <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => toListUrl(base, kept, page)} />
            </div>
          </div>
        )}
      </Layout>
    )
  }
}

/** Titles of the collections that narrow the list, as far as the reader may see them. */
async function readTitles({ call }: PageRequest, collections: string | undefined): Promise<string[]> {
  const refs = (collections ?? '')
    .split(',')
    .filter((ref) => ref !== '')
    .slice(0, 10)
  const shown = await Promise.all(refs.map((id) => call(showCollection, { id, perPage: 1 }).catch(() => null)))
  return shown.flatMap((one) => one?.collection.title ?? [])
}

/** Skills have no type. */
function readKept(kind: Kind, query: URLSearchParams): Kept {
  const names = KEPT.filter((name) => kind === 'prompts' || name !== 'type')
  return Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])))
}

/** @throws AppError `invalid_input` in words of the page, for a type or an order that there is not */
function refuseUnknown({ types, sorts, find, language }: Site['words'], { type, sort }: Kept): void {
  const refuse = (given: string, choices: Readonly<Record<string, string>>) => {
    const list = formatsOf(language).anyOf(Object.values(choices))
    return new AppError('invalid_input', find.unknownChoice(given.slice(0, 40).toWellFormed(), list))
  }
  if (type !== undefined && !Object.hasOwn(types, type)) throw refuse(type, types)
  if (sort !== undefined && !Object.hasOwn(sorts, sort)) throw refuse(sort, sorts)
}

function toInput({ tag, collections, sort, ...kept }: Kept) {
  return {
    ...kept,
    sort: SORTS.find((one) => one === sort),
    ...(tag === undefined ? {} : { tag: tag.split(',') }),
    ...(collections === undefined ? {} : { collections: collections.split(',') }),
  }
}

/** The filters that can change the list: choices without hits are left out, and so are groups without a choice. */
function toGroups(words: Site['words'], kind: Kind, kept: Kept, { facets, total }: Found, categories: Categories): FilterGroup[] {
  const linkOf = (name: string) => (value: string | undefined) => toListUrl(`/${kind}`, { ...kept, [name]: value })
  const counts = new Map(facets.categories.map(({ slug, count }) => [slug, count]))
  const chosen = categories.find(({ slug }) => slug === kept.category)
  const above = chosen?.parent ?? chosen?.slug
  const countOf = (slug: string) => counts.get(slug) ?? 0
  const childrenOf = (parent: string) => categories.filter((category) => category.parent === parent)
  const types = PROMPT_TYPES.map((type) => ({
    value: type,
    name: words.types[type],
    count: facets.types.find((one) => one.type === type)?.count ?? 0,
  }))
  const inCategories = categories
    .filter(({ parent }) => parent === null || parent === above)
    .map(({ slug, name, parent }) => ({
      value: slug,
      name,
      isBelow: parent !== null,
      count: countOf(slug) + childrenOf(slug).reduce((sum, child) => sum + countOf(child.slug), 0),
    }))
  const tags = facets.tags.map(({ slug, name, count }) => ({ value: slug, name, count }))
  return [
    { name: 'type', label: words.type, choices: kind === 'prompts' ? types : [] },
    { name: 'category', label: words.category, choices: inCategories },
    { name: 'tag', label: words.tags, choices: tags },
  ].flatMap(({ name, label, choices }) => {
    const current = kept[name as 'type' | 'category' | 'tag']
    // Few hits are widened by near ones, more so in a narrowed list: what is chosen has found all that is listed.
    const shown = choices
      .map((choice) => (choice.value === current ? { ...choice, count: total } : choice))
      .filter(({ value, count }) => count > 0 || value === current)
    // A single choice that holds for everything narrows nothing.
    const isUseful = current !== undefined || shown.length > 1 || (name !== 'type' && shown.length > 0)
    return isUseful ? [{ label, chosen: current, choices: shown, toUrl: linkOf(name) }] : []
  })
}

/** The reader's own collections, which narrow the list. */
function toCollectionGroup(
  words: Site['words'],
  kind: Kind,
  kept: Kept,
  own: Output<typeof nameOwnCollections>['collections'],
): FilterGroup[] {
  if (own.length === 0) return []
  const choices = own.map(({ id, title }) => ({ value: id, name: title, count: null }))
  const toUrl = (value: string | undefined) => toListUrl(`/${kind}`, { ...kept, collections: value })
  return [{ label: words.collecting.collections, chosen: kept.collections, choices, toUrl }]
}

/** How much was found, what it was narrowed by, and the order. */
const Summary: FC<{ site: Site; kind: Kind; kept: Kept; found: Found; titles: readonly string[] }> = ({
  site,
  kind,
  kept,
  found,
  titles,
}) => {
  const { words } = site
  const base = `/${kind}`
  const { total, correctedQuery: corrected } = found
  const { exact } = found.facets
  const chosen = kept.sort ?? (kept.q === undefined ? 'newest' : 'relevance')
  const sorts = SORTS.filter((sort) => sort !== 'relevance' || kept.q !== undefined)
  return (
    <div class="summary">
      <div class="found" aria-live="polite">
        <h2>{total === 0 ? words.nothingFound : kept.q === undefined ? words.find.counts[kind](total) : words.found(total)}</h2>
        {total === 0 ? (
          <p class="prose">
            {words.nothingFoundHelp} <a href={base}>{words.clearFilters}</a>
          </p>
        ) : null}
        {corrected === undefined || total === 0 ? null : (
          <p class="quiet">
            {words.showingResultsFor} <a href={toListUrl(base, { ...kept, q: corrected })}>{corrected}</a>
          </p>
        )}
        {exact === 0 && total > 0 ? <p class="quiet">{words.allSimilar}</p> : null}
        {exact && exact < total ? <p class="quiet">{words.exactAndSimilar(exact, total - exact)}</p> : null}
        <Narrowed words={words} base={base} kept={kept} titles={titles} />
      </div>
      {total === 0 ? null : (
        <Sorts label={words.sortedBy} of={sorts.map((sort) => [toListUrl(base, { ...kept, sort }), words.sorts[sort], chosen === sort])} />
      )}
    </div>
  )
}

/** Active filters by tag, author and collection, each with a link that removes it. */
const Narrowed: FC<{ words: Site['words']; base: string; kept: Kept; titles: readonly string[] }> = ({ words, base, kept, titles }) => {
  const narrowings = [
    ['tag', kept.tag && words.reading.onlyTag(kept.tag)],
    ['author', kept.author && words.reading.onlyAuthor(kept.author)],
    ['label', kept.label && words.labels.only(kept.label)],
    ['collections', kept.collections && words.collecting.only(titles.length === 0 ? kept.collections : titles.join(', '))],
  ] as const
  return (
    <>
      {narrowings.map(([name, shown]) =>
        shown ? (
          <p class="quiet">
            {shown} <a href={toListUrl(base, { ...kept, [name]: undefined })}>{words.remove}</a>
          </p>
        ) : null,
      )}
    </>
  )
}

const COLLECTIONS = ['prompts', 'skills'] as const

/** The favourites of the reader, the last marked first. */
export async function showFavourites(request: PageRequest) {
  const { site, words, call, query } = request
  const collection = COLLECTIONS.find((one) => one === query.get('kind')) ?? 'prompts'
  const found = await readListPage(request, (page) => call(browseFavourites, { collection, page, perPage: PER_PAGE }))
  if ('to' in found) return found
  const stars = await readStars(request, found.prompts, found.skills)
  const linkTo = (kind: string, page = 1) => toListUrl('/favourites', { kind: kind === 'prompts' ? '' : kind }, page)
  return (
    <TitledPage request={request} title={words.favourites} lead={words.favouritesLead}>
      <Tabs label={words.filters} of={COLLECTIONS.map((one) => [linkTo(one), words[one], one === collection])} />
      {found.total === 0 ? (
        <Section title={words.noFavourites[collection]}>
          <p class="prose">{words.noFavouritesHelp}</p>
          <div class="actions">
            <Link to={`/${collection}`} look="button first" text={words.find.browseAll[collection]} />
          </div>
        </Section>
      ) : (
        <>
          <h2 class="visually-hidden">{words.find.counts[collection](found.total)}</h2>
          <ItemRows site={site} {...found} stars={stars} />
        </>
      )}
      <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => linkTo(collection, page)} />
    </TitledPage>
  )
}
