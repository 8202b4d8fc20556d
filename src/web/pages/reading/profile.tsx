import { scopePath } from '../../../domain/skills/channel-scope.ts'
import { showProfile } from '../../../operations/account/account.ts'
import { LinkLine } from '../../parts/controls.tsx'
import type { LeadsOn, PageRequest } from '../../request.ts'
import { showPart } from './scope.tsx'

/** A profile with the author's items visible to the reader; not found when there are none. */
export async function showProfilePage(request: PageRequest) {
  const { site, call, param, query } = request
  const profile = await call(showProfile, { username: param('name') })
  const { username: name, displayName, bio, website, isTeam, isMember } = profile
  // A team keeps the names it had; another spelling of one is no other name.
  if (isTeam && name.toLowerCase() !== param('name').toLowerCase()) return { ...leadTo(name, query), isPermanent: true as const }
  const { words } = site
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
