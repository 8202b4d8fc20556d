import { browseFavourites } from '../../../operations/items/marks.ts'
import { Link, LinkItem, Section } from '../../parts/controls.tsx'
import { toListUrl } from '../../parts/entries.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { ItemRows, readStars } from '../../parts/rows.tsx'
import { TitledPage } from '../../parts/titled-page.tsx'
import { type PageRequest, readListPage } from '../../request.ts'

const PER_PAGE = 24
const COLLECTIONS = ['prompts', 'skills'] as const

/** The favourites of the reader, the last marked first. */
export async function showFavourites(request: PageRequest) {
  const { site, call, query } = request
  const { words } = site
  const collection = COLLECTIONS.find((one) => one === query.get('kind')) ?? 'prompts'
  const found = await readListPage(request, (page) => call(browseFavourites, { collection, page, perPage: PER_PAGE }))
  if ('to' in found) return found
  const stars = await readStars(request, found.prompts, found.skills)
  const linkTo = (kind: string, page = 1) => toListUrl('/favourites', { kind: kind === 'prompts' ? '' : kind }, page)
  return (
    <TitledPage request={request} title={words.favourites} lead={words.favouritesLead} current="favourites" isIndexed={false}>
      <nav aria-label={words.filters}>
        <ul class="filters tabs">
          {COLLECTIONS.map((one) => (
            <LinkItem to={linkTo(one)} current={one === collection && 'true'} text={words[one]} />
          ))}
        </ul>
      </nav>
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
