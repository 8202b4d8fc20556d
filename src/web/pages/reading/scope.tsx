import type { Child } from 'hono/jsx'
import { slugifyTag } from '../../../domain/items/slug.ts'
import { scopePath } from '../../../domain/skills/channel-scope.ts'
import { AppError } from '../../../errors.ts'
import { showProfile } from '../../../operations/account/account.ts'
import { listCategories } from '../../../operations/items/list-categories.ts'
import { listPrompts, listSkills } from '../../../operations/items/search-items.ts'
import { Layout } from '../../layout.tsx'
import { INSTALL_STYLES, InstallBox } from '../../parts/connect.tsx'
import { LinkItem, LinkLine } from '../../parts/controls.tsx'
import { PageLinks, toListUrl } from '../../parts/lists.tsx'
import { ItemRows, readStars } from '../../parts/rows.tsx'
import { type LeadsOn, type PageRequest, readListPage } from '../../request.ts'
import { formatsOf } from '../../strings/formats.ts'

const PER_PAGE = 24
const SORTS = ['newest', 'oldest', 'votes'] as const

/** A part of the library with an address of its own: an author's items, those of a tag, those of a category. */
interface Part {
  /** The query of the lists. */
  readonly filter: { readonly author?: string; readonly tag?: string[]; readonly category?: string }
  /** Path of the page, and of the scope in channels. */
  readonly path: string
  readonly title: string
  readonly description: string
  readonly kind?: 'profile'
  readonly feed?: string
  /** Above the lists. */
  readonly head: (counts: { readonly prompts: number; readonly skills: number }) => Child
}

/** The items of a part of the library: prompts or skills, with a box that installs its skills.  */
async function showPart(request: PageRequest, part: Part, known?: { readonly prompts: number; readonly skills: number }) {
  const { site, words, call, query } = request
  const { filter, path, title, description, kind, feed, head } = part
  const sort = SORTS.find((name) => name === query.get('sort')) ?? 'newest'
  const counts = known ?? {
    prompts: (await call(listPrompts, { ...filter, perPage: 1 })).total,
    skills: (await call(listSkills, { ...filter, perPage: 1 })).total,
  }
  // What agents without a key find.
  const shared = site.isForMembers ? 0 : (await request.callAnonymously(listSkills, { ...filter, perPage: 1 })).total
  const isSkills = counts.prompts === 0 || (query.get('kind') === 'skills' && counts.skills > 0)
  const found = await readListPage(request, async (page) => {
    const input = { ...filter, perPage: PER_PAGE, page, sort }
    return isSkills ? { prompts: [], ...(await call(listSkills, input)) } : { skills: [], ...(await call(listPrompts, input)) }
  })
  if ('to' in found) return found
  const stars = await readStars(request, found.prompts, found.skills)
  const shown = isSkills ? 'skills' : 'prompts'
  const toUrl = (change: { kind?: string; sort?: string; page?: number }) => {
    const wanted = { kind: shown, sort, ...change }
    const kind = wanted.kind === 'skills' && counts.prompts > 0 ? 'skills' : ''
    return toListUrl(path, { kind, sort: wanted.sort === 'newest' ? '' : wanted.sort }, change.page)
  }
  return (
    <Layout
      site={site}
      title={title}
      description={description}
      path={path}
      {...(kind ? { kind } : {})}
      {...(feed === undefined ? {} : { feed })}
      isIndexed={query.size === 0 && counts.prompts + counts.skills > 0}
      styles={counts.skills > 0 ? INSTALL_STYLES : []}
    >
      {head(counts)}
      {counts.skills > 0 ? (
        <InstallBox
          site={site}
          installed={{ scope: path, needsKey: shared === 0 }}
          lead={words.reading.installAll(shared || counts.skills)}
        />
      ) : null}
      <nav aria-label={words.filters}>
        {counts.prompts > 0 && counts.skills > 0 ? (
          <ul class="filters">
            {(['prompts', 'skills'] as const).map((one) => (
              <LinkItem
                to={toUrl({ kind: one })}
                current={one === shown && 'true'}
                text={`${words[one]} ${formatsOf(words.language).number(counts[one])}`}
              />
            ))}
          </ul>
        ) : null}
        <ul class="filters" aria-label={words.sortedBy}>
          {SORTS.map((choice) => (
            <LinkItem to={toUrl({ sort: choice })} current={choice === sort && 'true'} text={words.sorts[choice]} />
          ))}
          {feed === undefined ? null : <LinkItem to={feed} text={words.reading.feed} />}
        </ul>
      </nav>
      <h2 class="visually-hidden">{words[shown]}</h2>
      <ItemRows site={site} {...found} stars={stars} />
      <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(number) => toUrl({ page: number })} />
    </Layout>
  )
}

/** Everything with a tag that the reader may list. */
export async function showTagPage(request: PageRequest) {
  const { call, param, site } = request
  const tag = slugifyTag(param('tag'))
  const filter = { tag: [tag] }
  const [prompts, skills] = await Promise.all([call(listPrompts, { ...filter, perPage: 1 }), call(listSkills, { ...filter, perPage: 1 })])
  const names = [...prompts.prompts, ...skills.skills].flatMap((item) => item.tags)
  if (names.length === 0) throw new AppError('not_found', site.words.errors.noTag)
  const name = names.find((one) => slugifyTag(one) === tag) ?? tag
  const path = scopePath({ kind: 'tag', name: tag })
  if (path !== request.path) return { to: path }
  return await showNamed(
    request,
    { filter, path, title: site.words.reading.tagged(name) },
    { prompts: prompts.total, skills: skills.total },
  )
}

/** Everything of a category and those below it that the reader may list. */
export async function showCategory(request: PageRequest) {
  const { call, param, site } = request
  const { categories } = await call(listCategories, { all: true })
  const category = categories.find(({ slug }) => slug === param('category').toLowerCase())
  if (!category) throw new AppError('not_found', site.words.errors.noCategory)
  const path = scopePath({ kind: 'category', name: category.slug })
  if (path !== request.path) return { to: path }
  return await showNamed(request, { filter: { category: category.slug }, path, title: category.name })
}

async function showNamed(
  request: PageRequest,
  part: Pick<Part, 'filter' | 'path' | 'title'>,
  known?: { readonly prompts: number; readonly skills: number },
) {
  const { profileLead } = request.words.reading
  return await showPart(
    request,
    {
      ...part,
      description: part.title,
      head: ({ prompts, skills }) => (
        <>
          <h1>{part.title}</h1>
          <p class="lead">{profileLead(prompts, skills)}</p>
        </>
      ),
    },
    known,
  )
}

/** A profile with the author's items visible to the reader; not found when there are none. */
export async function showProfilePage(request: PageRequest) {
  const { words, call, param, query } = request
  const profile = await call(showProfile, { username: param('name') })
  const { username: name, displayName, bio, website, isTeam, isMember } = profile
  // A team keeps the names it had; another spelling of one is no other name.
  if (isTeam && name.toLowerCase() !== param('name').toLowerCase()) return { ...leadTo(name, query), isPermanent: true as const }
  const lead = words.reading.profileLead(profile.prompts, profile.skills)
  return await showPart(
    request,
    {
      filter: { author: name },
      path: scopePath({ kind: 'author', name }),
      title: name,
      description: `${name}: ${lead}`,
      kind: 'profile',
      feed: `/feed.xml?author=${encodeURIComponent(name)}`,
      head: () => (
        <>
          <h1>{displayName ?? name}</h1>
          {displayName === null ? null : <p class="quiet">{name}</p>}
          <p class="lead">{bio || lead}</p>
          {isTeam ? (
            <p class="quiet">
              {words.teams.isTeam}
              {isMember ? (
                <>
                  {' '}
                  <a href={`/teams/${encodeURIComponent(name)}`}>{words.teams.manageLink}</a>
                </>
              ) : null}
            </p>
          ) : null}
          {website === null ? null : <LinkLine to={website} rel="nofollow noopener ugc" text={website} />}
        </>
      ),
    },
    profile,
  )
}

function leadTo(name: string, query: URLSearchParams): LeadsOn {
  return { to: scopePath({ kind: 'author', name }) + (query.size === 0 ? '' : `?${query}`) }
}

/** The former address of profiles. */
export async function leadToProfile({ param, query }: PageRequest): Promise<LeadsOn> {
  return leadTo(param('name'), query)
}
