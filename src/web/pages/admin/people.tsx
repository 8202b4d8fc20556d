import { PERSON_KINDS } from '../../../domain/people/people.ts'
import { listPeople } from '../../../operations/admin/people.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { Day, UtcDay } from '../../parts/day.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { type PageRequest, readListPage } from '../../request.ts'
import type { Site } from '../../site.ts'
import { AdminPage } from './admin-page.tsx'

const PER_PAGE = 50

type ListedPerson = Output<typeof listPeople>['people'][number]

/** People of one kind, accounts first; each account has a page of its own. */
export async function showPeople(request: PageRequest) {
  const { site, query, call } = request
  const { words } = site
  const matching = (query.get('q') ?? '').slice(0, 64)
  const kind = PERSON_KINDS.find((one) => one === query.get('kind')) ?? 'login'
  const toUrl = (shown: string, page = 1) => {
    const fields = { ...(shown === 'login' ? {} : { kind: shown }), ...(matching === '' ? {} : { q: matching }) }
    const params = new URLSearchParams({ ...fields, ...(page === 1 ? {} : { page: String(page) }) })
    return params.size === 0 ? '/admin/people' : `/admin/people?${params}`
  }
  const found = await readListPage(request, (page) => call(listPeople, { perPage: PER_PAGE, page, kind, matching }))
  if ('to' in found) return found
  return (
    <AdminPage request={request} at="/admin/people">
      <search>
        <form method="get" class="search">
          {kind === 'login' ? null : <input type="hidden" name="kind" value={kind} />}
          <input type="search" name="q" value={matching} aria-label={words.findPeople} placeholder={words.findPeople} maxlength={64} />
          <button class="button" type="submit">
            {words.search}
          </button>
        </form>
      </search>
      <nav aria-label={words.filters}>
        <ul class="filters tabs">
          {PERSON_KINDS.map((one) => (
            <li>
              <a href={toUrl(one)} aria-current={one === kind ? 'page' : undefined}>
                {words.tab(words.personTabs[one], found.counts[one])}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {found.people.length === 0 ? <p>{words.noPeople}</p> : null}
      <ul class="entries">
        {found.people.map((person) => (
          <Row site={site} person={person} />
        ))}
      </ul>
      <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => toUrl(kind, page)} />
    </AdminPage>
  )
}

const Row = ({ site: { words }, person }: { readonly site: Site; readonly person: ListedPerson }) => {
  const { username, kind, role, email, items, createdAt, seenOn, suspendedAt } = person
  const name = encodeURIComponent(username)
  return (
    <li>
      <div>
        <a href={`/@${name}`}>{username}</a> <span class="quiet">{role === 'admin' ? words.roles.admin : ''}</span>{' '}
        {suspendedAt === null ? null : <strong class="state">{words.suspended}</strong>}
        <p class="quiet">
          {email === null ? '' : `${email} · `}
          {words.itemCount(items)}
          {kind === 'login' ? (
            <>
              {' · '}
              {seenOn === null ? (
                words.neverSeen
              ) : (
                <>
                  {words.lastSeen} <UtcDay words={words} day={seenOn} />
                </>
              )}
            </>
          ) : null}
          {' · '}
          {words.since} <Day words={words} at={createdAt} />
        </p>
      </div>
      <div class="controls">
        {kind === 'login' ? null : <a href={`/admin/invites?username=${name}`}>{words.invite}</a>}
        {kind === 'placeholder' ? null : (
          <a class="button quiet" href={`/admin/people/${name}`} aria-label={words.managePerson(username)}>
            {words.manage}
          </a>
        )}
      </div>
    </li>
  )
}
