import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { ROLES } from '../../../domain/people/account.ts'
import { PERSON_KINDS } from '../../../domain/people/people.ts'
import { resetFactors } from '../../../operations/account/factors.ts'
import {
  createInvite,
  createResetLink,
  deletePerson,
  listInvites,
  listPeople,
  revokeInvite,
  setRole,
  setSuspended,
  showPerson,
  signOutPerson,
} from '../../../operations/admin/people.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { Link, Section, ShownOnce } from '../../parts/controls.tsx'
import { authorPath, Day, Fact, On, UtcDay } from '../../parts/facts.tsx'
import { ActionButton } from '../../parts/field.tsx'
import { ConfirmedAction, Form } from '../../parts/form.tsx'
import { Entry, List, readQuery } from '../../parts/lists.tsx'
import { SectionPage } from '../../parts/page-frames.tsx'
import { actBy, doing, type PageRequest, readListPage } from '../../request.ts'
import type { Words } from '../../site.ts'

const PEOPLE = '/admin/people'

/** People of one kind, accounts first; each account has a page of its own. */
export async function showPeople(request: PageRequest) {
  const { words } = request
  const kind = PERSON_KINDS.find((one) => one === request.query.get('kind')) ?? 'login'
  const found = await readListPage(request, (page) => request.call(listPeople, { perPage: 50, page, kind, matching: readQuery(request) }))
  if ('to' in found) return found
  return (
    <SectionPage request={request} at={PEOPLE}>
      <List
        request={request}
        path={PEOPLE}
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
                to={`${PEOPLE}/${encodeURIComponent(username)}`}
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

const nameOf = ({ param }: Pick<PageRequest, 'param'>) => ({ username: param('name') })
const resetLink = z.object({ username: z.string(), url: z.string() })

/** A person, and what administrators do about an account. A new reset link is shown once. */
export async function showPersonPage(request: PageRequest) {
  const { site, words, call, takeFlash } = request
  const person = await call(showPerson, { username: request.param('name') })
  const { username, kind, role, email, createdAt, seenOn, suspendedAt } = person
  const link = takeFlash(resetLink)
  const isOwn = site.reader?.username === username
  return (
    <SectionPage request={request} at="/admin/people" forms={isOwn ? [] : ['delete']} title={username}>
      {link ? <ShownOnce words={words} lead={words.resetLinkFor(link.username)} texts={[link.url]} /> : null}
      <dl class="figures">
        <Fact label={words.role}>{role === 'admin' ? words.roles.admin : words.personKinds[kind]}</Fact>
        {email === null ? null : <Fact label={words.email}>{email}</Fact>}
        <Fact label={words.settingsSections['/settings']}>
          <a href={authorPath(username)}>{authorPath(username)}</a>
        </Fact>
        <Fact label={words.created}>
          <Day words={words} at={createdAt} />
        </Fact>
        {kind === 'login' ? (
          <Fact label={words.lastSeenFact}>{seenOn === null ? words.neverSeen : <UtcDay words={words} day={seenOn} />}</Fact>
        ) : null}
        {suspendedAt === null ? null : (
          <Fact label={words.suspendedSince}>
            <Day words={words} at={suspendedAt} />
          </Fact>
        )}
      </dl>
      {isOwn ? <p class="quiet">{words.yourself}</p> : null}
      {kind === 'placeholder' ? null : <Access words={words} person={person} isOwn={isOwn} />}
      {kind === 'placeholder' || isOwn ? null : (
        <Section title={words.deleteAccount}>
          <p class="prose">{words.deletePersonLead(username)}</p>
          <Form
            request={request}
            does="delete"
            of={deletePerson}
            fields={{
              handOverTo: { label: words.teams.handOver, hint: words.teams.handOverHint, maxlength: 64, autocomplete: 'off' },
              confirm: { label: words.typeToConfirm(username), autocomplete: 'off', isRequired: true },
            }}
            submit={words.deleteForGood}
            isMain={false}
          />
        </Section>
      )}
    </SectionPage>
  )
}

/** The rights to act as this account. */
const Access: FC<{ words: Words; person: Output<typeof showPerson>; isOwn: boolean }> = ({ words, person, isOwn }) => (
  <Section title={words.access}>
    <div class="controls">
      {person.kind === 'login' ? (
        <>
          <ActionButton does="reset">{words.resetLink}</ActionButton>
          {person.hasFactors ? <ConfirmedAction does="reset-factors" label={words.factors.reset} means={words.factors.resetMeans} /> : null}
          {person.role === 'admin' ? (
            <ConfirmedAction does="role" values={{ role: 'user' }} label={words.removeAdmin} means={words.removeAdminMeans} />
          ) : (
            <ConfirmedAction does="role" values={{ role: 'admin' }} label={words.makeAdmin} means={words.makeAdminMeans} />
          )}
          <ConfirmedAction does="sign-out" label={words.signOutEverywhere} means={words.signOutMeans} />
        </>
      ) : null}
      {isOwn ? null : person.suspendedAt === null ? (
        <ConfirmedAction does="suspend" label={words.suspend} means={words.suspendMeans} />
      ) : (
        <ActionButton does="unsuspend">{words.unsuspend}</ActionButton>
      )}
    </div>
  </Section>
)

/** Does what a button of the page says. Removing one's own admin role leads away from it. */
export const changePerson = actBy({
  async reset({ call, param, path }) {
    const username = param('name')
    const { url } = await call(createResetLink, { username })
    return { to: path, flash: { username, url } satisfies z.infer<typeof resetLink> }
  },
  role: doing(
    setRole,
    ({ form, param }) => ({ username: param('name'), role: form.choice('role', ROLES) }),
    'saved',
    ({ site, path }, { username, role }) => (username === site.reader?.username && role !== 'admin' ? '/settings' : path),
  ),
  'reset-factors': doing(resetFactors, nameOf, 'factors-reset'),
  'sign-out': doing(signOutPerson, nameOf, 'signed-out-person'),
  suspend: doing(setSuspended, (request) => ({ ...nameOf(request), isSuspended: true }), 'suspended'),
  unsuspend: doing(setSuspended, (request) => ({ ...nameOf(request), isSuspended: false }), 'unsuspended'),
  delete: doing(
    deletePerson,
    ({ form, ...request }) => ({ ...nameOf(request), ...form.texts('handOverTo'), confirm: form.text('confirm') }),
    'account-deleted',
    '/admin/people',
  ),
})

const INVITES = '/admin/invites'
const newLink = z.object({ url: z.string() })

/** Invites, and a form for another, whose link is shown once. */
export async function showInvites(request: PageRequest) {
  const { words, call, query, takeFlash } = request
  const found = await readListPage(request, (page) => call(listInvites, { page, perPage: 50 }))
  if ('to' in found) return found
  const link = takeFlash(newLink)
  return (
    <SectionPage request={request} at={INVITES} forms={['create']}>
      {link === null ? null : <ShownOnce words={words} lead={words.inviteCreated} texts={[link.url]} />}
      <Section title={words.newInvite} lead={words.inviteLead}>
        <Form
          request={request}
          does="create"
          of={createInvite}
          action={INVITES}
          fields={{
            username: {
              label: words.username,
              value: query.get('username'),
              hint: words.inviteNameHint,
              maxlength: 64,
              autocomplete: 'off',
            },
            role: { label: words.role, options: ROLES.map((role) => [role, words.roles[role]]) },
          }}
          submit={words.createInvite}
        />
      </Section>
      {found.total === 0 ? null : (
        <Section title={words.adminSections['/admin/invites']}>
          <List
            request={request}
            path={INVITES}
            found={found}
            of={found.invites}
            none=""
            row={({ id, username, role, createdAt, expiresAt, state, usedBy }) => (
              <Entry
                title={<strong>{username ?? words.anyName}</strong>}
                note={words.roles[role]}
                isOver={state !== 'open'}
                facts={[
                  <On label={words.created} words={words} at={createdAt} />,
                  usedBy === null ? words.inviteStates[state] : `${words.inviteStates[state]} (${usedBy})`,
                  state === 'open' ? <On label={words.expires} words={words} at={expiresAt} /> : null,
                ]}
              >
                {state === 'open' ? (
                  <ConfirmedAction
                    action={INVITES}
                    does="revoke"
                    values={{ id }}
                    label={words.revoke}
                    name={words.revokeInvite(username ?? words.anyName)}
                    means={words.revokeInviteMeans}
                  />
                ) : null}
              </Entry>
            )}
          />
        </Section>
      )}
    </SectionPage>
  )
}

/** Makes an invite, whose link the page after it shows, or revokes one. */
export const changeInvites = actBy({
  async create({ call, form }) {
    const username = form.text('username').trim() || undefined
    const role = form.has('role') ? form.choice('role', ROLES) : 'user'
    return { to: INVITES, flash: await call(createInvite, { username, role }) }
  },
  revoke: doing(revokeInvite, ({ form }) => ({ id: form.text('id') }), 'saved'),
})
