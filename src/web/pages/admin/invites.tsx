import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { ROLES } from '../../../domain/people/account.ts'
import { createInvite, listInvites, revokeInvite } from '../../../operations/admin/people.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Day } from '../../parts/day.tsx'
import { ActionButton, Choice, Fault, Field } from '../../parts/field.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { type Action, type PageRequest, readListPage } from '../../request.ts'
import { AdminPage, SecretLink } from './admin-page.tsx'

const PER_PAGE = 50

/** Invites, and a form for another, whose link is shown once. */
export async function showInvites(request: PageRequest) {
  const found = await readListPage(request, (page) => request.call(listInvites, { page, perPage: PER_PAGE }))
  if ('to' in found) return found
  return <Invites request={request} found={found} link={request.takeFlash(z.object({ url: z.string() }))?.url ?? null} />
}

const Invites: FC<{ request: PageRequest; found: Output<typeof listInvites>; link: string | null }> = ({ request, found, link }) => {
  const { site, sent, query } = request
  const { words } = site
  return (
    <AdminPage request={request} at="/admin/invites">
      {link === null ? null : <SecretLink words={words} text={words.inviteCreated} link={link} />}
      <section>
        <h2>{words.newInvite}</h2>
        <p class="quiet">{words.inviteLead}</p>
        <Fault sent={sent} fields={['username', 'role', 'expiresInDays']} words={words} />
        <form method="post" action="/admin/invites" class="fields">
          <Field
            sent={sent}
            name="username"
            label={words.inviteName}
            value={query.get('username')}
            hint={words.inviteNameHint}
            maxlength={64}
            autocomplete="off"
          />
          <Choice
            sent={sent}
            name="role"
            label={words.role}
            value="user"
            options={[
              ['user', words.roles.user],
              ['admin', words.roles.admin],
            ]}
          />
          <p>
            <button class="button first" type="submit" name="do" value="create">
              {words.createInvite}
            </button>
          </p>
        </form>
      </section>
      {found.total === 0 ? null : (
        <section>
          <h2>{words.invites}</h2>
          <ul class="entries">
            {found.invites.map((invite) => (
              <li class={invite.state === 'open' ? undefined : 'over'}>
                <div>
                  <strong>{invite.username ?? words.anyName}</strong> <span class="quiet">{words.roles[invite.role]}</span>
                  <p class="quiet">
                    {words.created} <Day words={words} at={invite.createdAt} /> · {words.inviteStates[invite.state]}
                    {invite.usedBy === null ? '' : ` (${invite.usedBy})`}
                    {invite.state === 'open' ? (
                      <>
                        , {words.expires} <Day words={words} at={invite.expiresAt} />
                      </>
                    ) : null}
                  </p>
                </div>
                {invite.state === 'open' ? (
                  <Confirm label={words.revoke} name={words.revokeInvite(invite.username ?? words.anyName)} means={words.revokeInviteMeans}>
                    <ActionButton action="/admin/invites" does="revoke" values={{ id: invite.id }}>
                      {words.revoke}
                    </ActionButton>
                  </Confirm>
                ) : null}
              </li>
            ))}
          </ul>
          <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => `/admin/invites?page=${page}`} />
        </section>
      )}
    </AdminPage>
  )
}

/** Makes an invite, whose link the page after it shows, or revokes one. */
export const changeInvites: Action = async ({ call, form }) => {
  if (form.text('do') === 'revoke') {
    await call(revokeInvite, { id: form.text('id') })
    return { to: '/admin/invites?done=saved' }
  }
  const username = form.text('username').trim()
  const made = await call(createInvite, {
    ...(username === '' ? {} : { username }),
    role: form.has('role') ? form.choice('role', ROLES) : 'user',
  })
  return { to: '/admin/invites', flash: made }
}
