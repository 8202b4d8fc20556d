import type { Child, FC } from 'hono/jsx'
import { z } from 'zod'
import { ROLES } from '../../../library/account.ts'
import { countLibrary, createCategory, deleteCategory, renameCategory } from '../../../operations/admin/administration.ts'
import {
  createInvite,
  createResetLink,
  deletePerson,
  listInvites,
  listPeople,
  revokeInvite,
  setRole,
  showPerson,
} from '../../../operations/admin/people.ts'
import type { Output } from '../../../operations/core/define-operation.ts'
import { listHeld } from '../../../operations/items/item-marks.ts'
import { listCategories } from '../../../operations/items/list-categories.ts'
import { showLibraryUsage } from '../../../operations/usage.ts'
import { Day } from '../../parts/day.tsx'
import { ActionButton, Choice, Fault, Field } from '../../parts/field.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { PromptRows, SkillRows } from '../../parts/rows.tsx'
import { SectionsPage } from '../../parts/sections-page.tsx'
import { CHART_STYLES, LibraryCharts } from '../../parts/usage-charts.tsx'
import { type Action, type PageRequest, readListPage } from '../../request.ts'

const PER_PAGE = 50

/** The frame of every administration page. */
export const AdminPage: FC<{ request: PageRequest; at: string; styles?: readonly string[]; children?: Child }> = ({
  request,
  at,
  styles,
  children,
}) => {
  const { words } = request.site
  return (
    <SectionsPage request={request} of={words.administration} sections={words.adminSections} at={at} styles={styles}>
      {children}
    </SectionsPage>
  )
}

/** A link that is shown this once. */
const SecretLink: FC<{ words: PageRequest['site']['words']; text: string; link: string }> = ({ words, text, link }) => (
  <section class="new-key" role="status" data-prompt>
    <p>{text}</p>
    <pre data-text tabindex={0}>
      {link}
    </pre>
    <button class="button first" type="button" data-copy={words.copied} hidden>
      {words.copy}
    </button>
  </section>
)

/** Counts, charts of the last days, and the items administrators have unlisted. */
export async function showAdmin(request: PageRequest) {
  const { site, call } = request
  const { words } = site
  const readHeld = readListPage(request, (page) => call(listHeld, { page, perPage: PER_PAGE }))
  const [numbers, usage, held] = await Promise.all([call(countLibrary, {}), call(showLibraryUsage, {}), readHeld])
  if ('to' in held) return held
  return (
    <AdminPage request={request} at="/admin" styles={CHART_STYLES}>
      <dl class="counts">
        {Object.entries(numbers).map(([name, count]) => (
          <div>
            <dt>{words.counts[name]}</dt>
            <dd>{count.toLocaleString(words.language)}</dd>
          </div>
        ))}
      </dl>
      <LibraryCharts site={site} usage={usage} />
      <section>
        <h2>{words.held}</h2>
        <p class="quiet">{words.heldLead}</p>
        {held.total === 0 ? <p>{words.nothingHeld}</p> : null}
        {held.prompts.length > 0 ? <PromptRows site={site} prompts={held.prompts} /> : null}
        {held.skills.length > 0 ? <SkillRows site={site} skills={held.skills} /> : null}
        <PageLinks site={site} page={held.page} pages={held.totalPages} toUrl={(page) => `/admin?page=${page}`} />
      </section>
    </AdminPage>
  )
}

const resetLink = z.object({ username: z.string(), url: z.string() })

/** All people. A new reset link is shown once. */
export async function showPeople(request: PageRequest) {
  const matching = request.query.get('q') ?? ''
  const input = { perPage: PER_PAGE, ...(matching === '' ? {} : { matching: matching.slice(0, 64) }) }
  const found = await readListPage(request, (page) => request.call(listPeople, { ...input, page }))
  if ('to' in found) return found
  return <People request={request} matching={matching} found={found} link={request.takeFlash(resetLink)} />
}

const People: FC<{ request: PageRequest; matching: string; found: Output<typeof listPeople>; link: z.infer<typeof resetLink> | null }> = ({
  request,
  matching,
  found,
  link,
}) => {
  const { site, sent } = request
  const { words } = site
  return (
    <AdminPage request={request} at="/admin/people">
      {link ? <SecretLink words={words} text={words.resetLinkFor(link.username)} link={link.url} /> : null}
      <Fault sent={sent} words={words} />
      <search>
        <form method="get" class="search">
          <input type="search" name="q" value={matching} aria-label={words.findPeople} placeholder={words.findPeople} maxlength={64} />
          <button class="button" type="submit">
            {words.search}
          </button>
        </form>
      </search>
      <ul class="entries">
        {found.people.map((person) => (
          <li>
            <div>
              <a href={`/users/${encodeURIComponent(person.username)}`}>{person.username}</a>{' '}
              <span class="quiet">{person.role === 'admin' ? words.roles.admin : words.personKinds[person.kind]}</span>
              <p class="quiet">
                {person.email ? `${person.email} · ` : ''}
                <Day at={person.createdAt} />
              </p>
            </div>
            {person.kind === 'login' ? (
              <div>
                <ActionButton does="reset" values={{ username: person.username }} label={words.resetLinkLabel(person.username)}>
                  {words.resetLink}
                </ActionButton>{' '}
                <ActionButton
                  does="role"
                  values={{ username: person.username, role: person.role === 'admin' ? 'user' : 'admin' }}
                  label={person.role === 'admin' ? words.removeAdminOf(person.username) : words.makeAdminOf(person.username)}
                >
                  {person.role === 'admin' ? words.removeAdmin : words.makeAdmin}
                </ActionButton>{' '}
                <a
                  class="button"
                  href={`/admin/people/${encodeURIComponent(person.username)}`}
                  aria-label={words.deletePersonOf(person.username)}
                >
                  {words.deletePerson}
                </a>
              </div>
            ) : (
              <a href={`/admin/invites?username=${encodeURIComponent(person.username)}`}>{words.invite}</a>
            )}
          </li>
        ))}
      </ul>
      <PageLinks
        site={site}
        page={found.page}
        pages={found.totalPages}
        toUrl={(page) => `/admin/people?${new URLSearchParams({ ...(matching === '' ? {} : { q: matching }), page: String(page) })}`}
      />
    </AdminPage>
  )
}

/** Sets a role, or makes a link for a new password, which the page after it shows. */
export const changePeople: Action = async ({ call, form, query }) => {
  const username = form.text('username')
  if (form.text('do') === 'role') {
    await call(setRole, { username, role: form.choice('role', ROLES) })
    return { to: '/admin/people?done=saved' }
  }
  const link = await call(createResetLink, { username })
  return {
    to: query.size === 0 ? '/admin/people' : `/admin/people?${query}`,
    flash: { username, url: link.url } satisfies z.infer<typeof resetLink>,
  }
}

/** Deletes an account after its name is typed to confirm. */
export async function showPersonPage(request: PageRequest) {
  const { site, call, sent } = request
  const { words } = site
  const person = await call(showPerson, { username: request.param('name') })
  return (
    <AdminPage request={request} at="/admin/people">
      <section>
        <h2>{words.deletePersonOf(person.username)}</h2>
        <p>{words.deletePersonLead(person.username)}</p>
        <Fault sent={sent} fields={['confirm']} words={words} />
        <form method="post" class="fields">
          <Field sent={sent} name="confirm" label={words.typeTheName(person.username)} autocomplete="off" isRequired />
          <p>
            <button class="button" type="submit" name="do" value="delete">
              {words.deleteForGood}
            </button>
          </p>
        </form>
      </section>
    </AdminPage>
  )
}

/** Deletes an account. */
export const changePerson: Action = async ({ call, form, param }) => {
  await call(deletePerson, { username: param('name'), confirm: form.text('confirm') })
  return { to: '/admin/people?done=person-deleted' }
}

/** Invites, and a form for another, whose link is shown once. */
export async function showInvites(request: PageRequest) {
  const found = await readListPage(request, (page) => request.call(listInvites, { page, perPage: PER_PAGE }))
  if ('to' in found) return found
  return <Invites request={request} found={found} link={request.takeFlash(createInvite.output)?.url ?? null} />
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
                    {words.created} <Day at={invite.createdAt} /> · {words.inviteStates[invite.state]}
                    {invite.usedBy === null ? '' : ` (${invite.usedBy})`}
                    {invite.state === 'open' ? (
                      <>
                        , {words.expires} <Day at={invite.expiresAt} />
                      </>
                    ) : null}
                  </p>
                </div>
                {invite.state === 'open' ? (
                  <ActionButton action="/admin/invites" does="revoke" values={{ id: invite.id }}>
                    {words.revoke}
                  </ActionButton>
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

/** Categories: the first level, and what stands below. */
export async function showCategories(request: PageRequest) {
  const { site, call, sent } = request
  const { words } = site
  const { categories } = await call(listCategories, { all: true })
  const isNew = sent?.form.text('do') === 'create'
  return (
    <AdminPage request={request} at="/admin/categories">
      <Fault sent={sent} fields={isNew ? ['name', 'slug', 'parent'] : []} words={words} />
      <ul class="entries">
        {categories.map(({ slug, name, parent, prompts, skills }) => (
          <li class={parent === null ? undefined : 'below'}>
            <form method="post" class="rename">
              <input type="hidden" name="slug" value={slug} />
              <input type="text" name="name" value={name} maxlength={60} aria-label={words.nameOf(slug)} />
              <button class="button" type="submit" name="do" value="rename">
                {words.rename}
              </button>
            </form>
            {prompts + skills > 0 ? (
              <span class="quiet">{words.itemCount(prompts + skills)}</span>
            ) : (
              <ActionButton does="delete" values={{ slug }} label={words.removeCategory(name)}>
                {words.remove}
              </ActionButton>
            )}
          </li>
        ))}
      </ul>
      <section>
        <h2>{words.newCategory}</h2>
        <form method="post" class="fields">
          <Field sent={isNew ? sent : null} name="name" label={words.categoryName} maxlength={60} autocomplete="off" isRequired />
          <Choice
            sent={isNew ? sent : null}
            name="parent"
            label={words.below}
            value=""
            options={[
              ['', words.noCategory],
              ...categories.flatMap(({ slug, name, parent }) => (parent === null ? [[slug, name] as const] : [])),
            ]}
          />
          <p>
            <button class="button first" type="submit" name="do" value="create">
              {words.createCategory}
            </button>
          </p>
        </form>
      </section>
    </AdminPage>
  )
}

/** Makes, renames or removes a category. */
export const changeCategories: Action = async ({ call, form }) => {
  const slug = form.text('slug')
  const name = form.text('name')
  const does = form.text('do')
  if (does === 'create') await call(createCategory, { name, parent: form.text('parent') })
  else if (does === 'rename') await call(renameCategory, { slug, name })
  else await call(deleteCategory, { slug })
  return { to: '/admin/categories?done=saved' }
}
