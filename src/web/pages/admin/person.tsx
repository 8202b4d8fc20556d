import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { ROLES } from '../../../domain/people/account.ts'
import { AppError } from '../../../errors.ts'
import { resetFactors } from '../../../operations/account/factors.ts'
import { createResetLink, deletePerson, setRole, setSuspended, showPerson, signOutPerson } from '../../../operations/admin/people.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Day, UtcDay } from '../../parts/day.tsx'
import { Fact } from '../../parts/facts.tsx'
import { ActionButton, Fault, Field } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'
import { AdminPage, SecretLink } from './admin-page.tsx'

type ShownPerson = Output<typeof showPerson>
const resetLink = z.object({ username: z.string(), url: z.string() })

/** A person, and what administrators do about an account. A new reset link is shown once. */
export async function showPersonPage(request: PageRequest) {
  const { site, call, sent, takeFlash } = request
  const { words } = site
  const person = await call(showPerson, { username: request.param('name') })
  const link = takeFlash(resetLink)
  const isOwn = site.reader?.username === person.username
  return (
    <AdminPage request={request} at="/admin/people">
      <h2>
        <a href={`/@${encodeURIComponent(person.username)}`}>{person.username}</a>
      </h2>
      {link ? <SecretLink words={words} text={words.resetLinkFor(link.username)} link={link.url} /> : null}
      <Fault sent={sent} fields={['confirm']} words={words} />
      <Facts words={words} person={person} />
      {isOwn ? <p class="quiet">{words.yourself}</p> : null}
      {person.kind === 'placeholder' ? null : <Access words={words} person={person} isOwn={isOwn} />}
      {person.kind === 'placeholder' || isOwn ? null : <Deletion request={request} username={person.username} />}
    </AdminPage>
  )
}

const Facts: FC<{ words: Site['words']; person: ShownPerson }> = ({ words, person }) => (
  <dl class="figures">
    <Fact label={words.role}>{person.role === 'admin' ? words.roles.admin : words.personKinds[person.kind]}</Fact>
    {person.email === null ? null : <Fact label={words.email}>{person.email}</Fact>}
    <Fact label={words.created}>
      <Day words={words} at={person.createdAt} />
    </Fact>
    {person.kind === 'login' ? (
      <Fact label={words.lastSeenFact}>{person.seenOn === null ? words.neverSeen : <UtcDay words={words} day={person.seenOn} />}</Fact>
    ) : null}
    {person.suspendedAt === null ? null : (
      <Fact label={words.suspendedSince}>
        <Day words={words} at={person.suspendedAt} />
      </Fact>
    )}
  </dl>
)

/** The rights to act as this account. */
const Access: FC<{ words: Site['words']; person: ShownPerson; isOwn: boolean }> = ({ words, person, isOwn }) => (
  <section>
    <h2>{words.access}</h2>
    <div class="controls">
      {person.kind === 'login' ? <LoginControls words={words} person={person} /> : null}
      {isOwn ? null : person.suspendedAt === null ? (
        <Confirm label={words.suspend} means={words.suspendMeans}>
          <ActionButton does="suspend">{words.suspend}</ActionButton>
        </Confirm>
      ) : (
        <ActionButton does="unsuspend">{words.unsuspend}</ActionButton>
      )}
    </div>
  </section>
)

/** The sections of somebody who can sign in. */
const LoginControls: FC<{ words: Site['words']; person: ShownPerson }> = ({ words, person }) => (
  <>
    <ActionButton does="reset">{words.resetLink}</ActionButton>
    {person.hasFactors ? (
      <Confirm label={words.factors.reset} means={words.factors.resetMeans}>
        <ActionButton does="reset-factors">{words.factors.reset}</ActionButton>
      </Confirm>
    ) : null}
    {person.role === 'admin' ? (
      <Confirm label={words.removeAdmin} means={words.removeAdminMeans}>
        <ActionButton does="role" values={{ role: 'user' }}>
          {words.removeAdmin}
        </ActionButton>
      </Confirm>
    ) : (
      <Confirm label={words.makeAdmin} means={words.makeAdminMeans}>
        <ActionButton does="role" values={{ role: 'admin' }}>
          {words.makeAdmin}
        </ActionButton>
      </Confirm>
    )}
    <Confirm label={words.signOutEverywhere} means={words.signOutMeans}>
      <ActionButton does="sign-out">{words.signOutEverywhere}</ActionButton>
    </Confirm>
  </>
)

/** Deletes an account after its name is typed to confirm. */
const Deletion: FC<{ request: PageRequest; username: string }> = ({ request: { site, sent }, username }) => {
  const { words } = site
  return (
    <section>
      <h2>{words.deletePerson}</h2>
      <p class="prose">{words.deletePersonLead(username)}</p>
      <form method="post" class="fields">
        <Field
          sent={sent}
          name="handOverTo"
          label={words.teams.handOver}
          hint={words.teams.handOverHint}
          maxlength={64}
          autocomplete="off"
        />
        <Field sent={sent} name="confirm" label={words.typeTheName(username)} autocomplete="off" isRequired />
        <p>
          <button class="button" type="submit" name="do" value="delete">
            {words.deleteForGood}
          </button>
        </p>
      </form>
    </section>
  )
}

/** Does what a button of the page says. Removing one's own admin role leads away from it. */
export const changePerson: Action = async ({ site, call, form, param, path }) => {
  const username = param('name')
  switch (form.text('do')) {
    case 'reset': {
      const { url } = await call(createResetLink, { username })
      return { to: path, flash: { username, url } satisfies z.infer<typeof resetLink> }
    }
    case 'role': {
      const person = await call(setRole, { username, role: form.choice('role', ROLES) })
      return { to: person.username === site.reader?.username && person.role !== 'admin' ? '/settings?done=saved' : `${path}?done=saved` }
    }
    case 'reset-factors':
      await call(resetFactors, { username })
      return { to: `${path}?done=factors-reset` }
    case 'sign-out':
      await call(signOutPerson, { username })
      return { to: `${path}?done=signed-out-person` }
    case 'suspend':
      await call(setSuspended, { username, isSuspended: true })
      return { to: `${path}?done=suspended` }
    case 'unsuspend':
      await call(setSuspended, { username, isSuspended: false })
      return { to: `${path}?done=unsuspended` }
    case 'delete':
      await call(deletePerson, { username, confirm: form.text('confirm'), handOverTo: form.text('handOverTo').trim() })
      return { to: '/admin/people?done=person-deleted' }
    default:
      throw new AppError('invalid_input', site.words.errors.noButton)
  }
}
