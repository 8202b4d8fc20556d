import { PERSON_KINDS } from '../../../domain/people/people.ts'
import { listPeople } from '../../../operations/admin/people.ts'
import { Link } from '../../parts/controls.tsx'
import { On, UtcDay } from '../../parts/day.tsx'
import { Entry, List, readQuery } from '../../parts/entries.tsx'
import { authorPath } from '../../parts/facts.tsx'
import { SectionPage } from '../../parts/sections-page.tsx'
import { type PageRequest, readListPage } from '../../request.ts'

const PATH = '/admin/people'

/** People of one kind, accounts first; each account has a page of its own. */
export async function showPeople(request: PageRequest) {
  const { words } = request.site
  const kind = PERSON_KINDS.find((one) => one === request.query.get('kind')) ?? 'login'
  const found = await readListPage(request, (page) => request.call(listPeople, { perPage: 50, page, kind, matching: readQuery(request) }))
  if ('to' in found) return found
  return (
    <SectionPage request={request} at={PATH}>
      <List
        request={request}
        path={PATH}
        found={found}
        of={found.people}
        none={words.noPeople}
        find={words.findPeople}
        kinds={PERSON_KINDS.map((one) => [one, words.tab(words.personTabs[one], found.counts[one])])}
        row={({ username, role, email, items, createdAt, seenOn, suspendedAt }) => (
          <Entry
            title={<a href={authorPath(username)}>{username}</a>}
            note={role === 'admin' ? words.roles.admin : null}
            state={suspendedAt === null ? null : words.suspended}
            facts={[
              email,
              words.itemCount(items),
              kind !== 'login' ? null : seenOn === null ? (
                words.neverSeen
              ) : (
                <>
                  {words.lastSeen} <UtcDay words={words} day={seenOn} />
                </>
              ),
              <On label={words.since} words={words} at={createdAt} />,
            ]}
          >
            {kind === 'login' ? null : <a href={`/admin/invites?username=${encodeURIComponent(username)}`}>{words.invite}</a>}
            {kind === 'placeholder' ? null : (
              <Link
                to={`${PATH}/${encodeURIComponent(username)}`}
                look="button quiet"
                aria-label={words.managePerson(username)}
                text={words.manage}
              />
            )}
          </Entry>
        )}
      />
    </SectionPage>
  )
}
