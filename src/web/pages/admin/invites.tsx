import { z } from 'zod'
import { ROLES } from '../../../domain/people/account.ts'
import { createInvite, listInvites, revokeInvite } from '../../../operations/admin/people.ts'
import { ConfirmedAction } from '../../parts/confirm.tsx'
import { Section } from '../../parts/controls.tsx'
import { On } from '../../parts/day.tsx'
import { Entry, List } from '../../parts/entries.tsx'
import { Form } from '../../parts/form.tsx'
import { ShownOnce } from '../../parts/sample.tsx'
import { SectionPage } from '../../parts/sections-page.tsx'
import { actBy, doing, type PageRequest, readListPage } from '../../request.ts'

const PATH = '/admin/invites'
const newLink = z.object({ url: z.string() })

/** Invites, and a form for another, whose link is shown once. */
export async function showInvites(request: PageRequest) {
  const { site, call, query, takeFlash } = request
  const { words } = site
  const found = await readListPage(request, (page) => call(listInvites, { page, perPage: 50 }))
  if ('to' in found) return found
  const link = takeFlash(newLink)
  return (
    <SectionPage request={request} at={PATH} forms={['create']}>
      {link === null ? null : <ShownOnce words={words} lead={words.inviteCreated} texts={[link.url]} />}
      <Section title={words.newInvite} lead={words.inviteLead}>
        <Form
          request={request}
          does="create"
          of={createInvite}
          action={PATH}
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
            path={PATH}
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
                    action={PATH}
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
    return { to: PATH, flash: await call(createInvite, { username, role }) }
  },
  revoke: doing(revokeInvite, ({ form }) => ({ id: form.text('id') }), 'saved'),
})
