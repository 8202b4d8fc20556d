import { showProfile } from '../../../operations/account/show-profile.ts'
import { listPrompts, listSkills } from '../../../operations/prompts/list-prompts.ts'
import { Layout } from '../../layout.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { PromptRows, SkillRows } from '../../parts/rows.tsx'
import { readStars } from '../../parts/star.tsx'
import { type PageRequest, readListPage } from '../../request.ts'

const PER_PAGE = 24
const SORTS = ['newest', 'oldest', 'votes'] as const

/** A profile with the author's items visible to the reader; not found when there are none. */
export async function showProfilePage(request: PageRequest) {
  const { site, call, query, param } = request
  const sort = SORTS.find((name) => name === query.get('sort')) ?? 'newest'
  const wantsSkills = query.get('kind') === 'skills'
  const profile = await call(showProfile, { username: param('name') })
  const name = profile.username
  const isSkills = profile.prompts === 0 || (wantsSkills && profile.skills > 0)
  const found = await readListPage(request, async (page) => {
    const input = { author: name, perPage: PER_PAGE, page, sort }
    return isSkills ? { prompts: [], ...(await call(listSkills, input)) } : { skills: [], ...(await call(listPrompts, input)) }
  })
  if ('to' in found) return found
  const stars = await readStars(request, found.prompts, found.skills)
  const { words } = site
  const path = `/users/${encodeURIComponent(name)}`
  const toUrl = (change: { kind?: 'skills' | undefined; sort?: string; page?: number }) => {
    const wanted = { kind: isSkills ? 'skills' : undefined, sort, ...change }
    const search = new URLSearchParams()
    if (wanted.kind === 'skills' && profile.prompts > 0) search.set('kind', 'skills')
    if (wanted.sort !== 'newest') search.set('sort', wanted.sort)
    if (change.page !== undefined && change.page > 1) search.set('page', String(change.page))
    return search.size === 0 ? path : `${path}?${search}`
  }
  const feed = `/feed.xml?author=${encodeURIComponent(name)}`
  const lead = words.reading.profileLead(profile.prompts, profile.skills)
  return (
    <Layout site={site} title={name} description={`${name}: ${lead}`} path={path} kind="profile" feed={feed} isIndexed={query.size === 0}>
      <h1>{profile.displayName ?? name}</h1>
      {profile.displayName === null ? null : <p class="quiet">{name}</p>}
      <p class="lead">{profile.bio ?? lead}</p>
      {profile.website === null ? null : (
        <p>
          <a href={profile.website} rel="nofollow noopener ugc">
            {profile.website}
          </a>
        </p>
      )}
      <nav aria-label={words.filters}>
        {profile.prompts > 0 && profile.skills > 0 ? (
          <ul class="filters">
            <li>
              <a href={toUrl({ kind: undefined })} aria-current={isSkills ? undefined : 'true'}>
                {words.prompts} {profile.prompts.toLocaleString('en')}
              </a>
            </li>
            <li>
              <a href={toUrl({ kind: 'skills' })} aria-current={isSkills ? 'true' : undefined}>
                {words.skills} {profile.skills.toLocaleString('en')}
              </a>
            </li>
          </ul>
        ) : null}
        <ul class="filters" aria-label={words.sortedBy}>
          {SORTS.map((choice) => (
            <li>
              <a href={toUrl({ sort: choice })} aria-current={choice === sort ? 'true' : undefined}>
                {words.sorts[choice]}
              </a>
            </li>
          ))}
          <li>
            <a href={feed}>{words.reading.feed}</a>
          </li>
        </ul>
      </nav>
      <h2 class="visually-hidden">{isSkills ? words.reading.skillsBy(name) : words.reading.promptsBy(name)}</h2>
      {found.prompts.length > 0 ? <PromptRows site={site} prompts={found.prompts} stars={stars} /> : null}
      {found.skills.length > 0 ? <SkillRows site={site} skills={found.skills} stars={stars} /> : null}
      <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(number) => toUrl({ page: number })} />
    </Layout>
  )
}
