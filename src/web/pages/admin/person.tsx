import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { ROLES } from '../../../domain/people/account.ts'
import { resetFactors } from '../../../operations/account/factors.ts'
import { createResetLink, deletePerson, setRole, setSuspended, showPerson, signOutPerson } from '../../../operations/admin/people.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { ConfirmedAction } from '../../parts/confirm.tsx'
import { Section } from '../../parts/controls.tsx'
import { Day, UtcDay } from '../../parts/day.tsx'
import { authorPath, Fact } from '../../parts/facts.tsx'
import { ActionButton } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { ShownOnce } from '../../parts/sample.tsx'
import { SectionPage } from '../../parts/sections-page.tsx'
import { actBy, doing, type PageRequest } from '../../request.ts'
import type { Words } from '../../site.ts'

const nameOf = ({ param }: Pick<PageRequest, 'param'>) => ({ username: param('name') })
const resetLink = z.object({ username: z.string(), url: z.string() })

/** A person, and what administrators do about an account. A new reset link is shown once. */
export async function showPersonPage(request: PageRequest) {
  const { site, call, takeFlash } = request
  const { words } = site
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
