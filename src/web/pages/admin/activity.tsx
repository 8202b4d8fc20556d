import type { FC } from 'hono/jsx'
import { AUDIT_ACTIONS, isAuditAction } from '../../../domain/service/audit.ts'
import { AppError } from '../../../errors.ts'
import { type AuditRecord, listAuditEvents, listOwnActivity, listTeamActivity } from '../../../operations/admin/administration.ts'
import type { Input, Output } from '../../../operations/core/procedure.ts'
import { showTeam } from '../../../operations/teams/teams.ts'
import { Layout } from '../../layout.tsx'
import { Link, LinkLine, Submit } from '../../parts/controls.tsx'
import { Moment } from '../../parts/facts.tsx'
import { Alert, Field } from '../../parts/field.tsx'
import { Entries, Entry, toListUrl } from '../../parts/lists.tsx'
import { SectionPage } from '../../parts/page-frames.tsx'
import type { PageRequest } from '../../request.ts'
import type { Words } from '../../site.ts'

type Found = Output<typeof listAuditEvents> & { readonly fault: string | null }

const PER_PAGE = 50
const FILTERS = ['username', 'action', 'since', 'target'] as const
const SHORT_ID = 8

/** The actions of a reader, and those of others on the reader's things. */
export async function showOwnActivity(request: PageRequest) {
  const activity = await readActivity(request, (wanted) => request.call(listOwnActivity, wanted))
  return <Log request={request} at="/settings/activity" lead={request.words.audit.ownLead} activity={activity} isOwn />
}

/** The whole audit log, for administrators. */
export async function showActivity(request: PageRequest) {
  const activity = await readActivity(request, (wanted) => request.call(listAuditEvents, wanted))
  return <Log request={request} at="/admin/activity" lead={request.words.audit.lead} activity={activity} isOwn={false} />
}

const Log: FC<{ request: PageRequest; at: string; lead: string; activity: Found; isOwn: boolean }> = ({ request, at, isOwn, ...log }) => {
  const { audit } = request.words
  return (
    <SectionPage request={request} at={at}>
      <p class="quiet">
        {log.lead} {audit.retention}
      </p>
      <Filters request={request} names={isOwn ? ['action', 'since'] : FILTERS} />
      {isOwn ? null : <LinkLine to={toListUrl(`${at}/export.jsonl`, readFilters(request.query))} text={audit.download} />}
      <Events request={request} activity={log.activity} path={at} isOwn={isOwn} />
    </SectionPage>
  )
}

/** The events of a team and its items, for its maintainers. */
export async function showTeamActivity(request: PageRequest) {
  const { site, words, param, call } = request
  if (site.reader === null) throw new AppError('unauthenticated', site.words.errors.signInFirst)
  const { name } = await call(showTeam, { team: param('team') })
  const path = `/teams/${encodeURIComponent(name)}/activity`
  if (path !== request.path) return { to: path }
  const activity = await readActivity(request, (wanted) => call(listTeamActivity, { ...wanted, team: name }))
  return (
    <Layout site={site} title={words.teams.activityOf(name)} styles={['admin.css']}>
      <h1>{words.teams.activityOf(name)}</h1>
      <p class="quiet">
        <a href={`/teams/${encodeURIComponent(name)}`}>{words.teams.back(name)}</a> · {words.audit.retention}
      </p>
      <Filters request={request} names={['action', 'since']} />
      <Events request={request} activity={activity} path={path} isOwn />
    </Layout>
  )
}

function readFilters(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(FILTERS.flatMap((name) => (query.get(name)?.trim() ? [[name, query.get(name)?.trim() ?? '']] : [])))
}

/** Reports a filter that matches nothing known on the page instead of failing, so the filter stays editable. */
async function readActivity(
  { query }: PageRequest,
  read: (wanted: Input<typeof listAuditEvents>) => Promise<Omit<Found, 'fault'>>,
): Promise<Found> {
  const cursor = query.get('cursor') ?? undefined
  try {
    return { ...(await read({ ...readFilters(query), cursor, limit: PER_PAGE })), fault: null }
  } catch (error) {
    if (!(error instanceof AppError) || (error.code !== 'invalid_input' && error.code !== 'not_found')) throw error
    return { events: [], nextCursor: null, fault: error.message }
  }
}

/** The subject of an action: a key of `audit.groups`. */
function groupOf(action: string): keyof Words['audit']['groups'] {
  if (/^(?:items?|versions|file)_/.test(action)) return 'items'
  if (/^(?:collection|embed)_/.test(action)) return 'collections'
  if (/^(?:key|program|install_link)_/.test(action)) return 'access'
  if (action.startsWith('team_')) return 'teams'
  return /^(?:category|setting|backup|library)_/.test(action) ? 'library' : 'accounts'
}

const Filters: FC<{ request: PageRequest; names: readonly (typeof FILTERS)[number][] }> = ({ request: { site, query }, names }) => {
  const { audit } = site.words
  const value = (name: string) => query.get(name) ?? ''
  const actions = Object.keys(AUDIT_ACTIONS).filter(isAuditAction)
  const groups = Object.entries(audit.groups).map(([group, name]) => {
    return [name, actions.filter((one) => groupOf(one) === group).map((one) => [one, audit.actions[one]] as const)] as const
  })
  return (
    <search>
      <form method="get" class="filter-form">
        {names.includes('username') ? (
          <Field sent={null} name="username" label={audit.person} value={value('username')} maxlength={64} autocomplete="off" />
        ) : null}
        <Field sent={null} name="action" label={audit.action} value={value('action')} options={[['', audit.anyAction]]} groups={groups} />
        <Field sent={null} name="since" label={audit.since} type="date" value={value('since')} />
        {names.includes('target') ? (
          <Field sent={null} name="target" label={audit.target} value={value('target')} maxlength={36} autocomplete="off" />
        ) : null}
        <Submit text={audit.filter} />
      </form>
    </search>
  )
}

const Events: FC<{ request: PageRequest; activity: Found; path: string; isOwn: boolean }> = ({ request, activity, path, isOwn }) => {
  const { site, words, query } = request
  const { audit, pages } = words
  const { events, nextCursor, fault } = activity
  const filters = readFilters(query)
  const you = isOwn ? (site.reader?.username ?? null) : null
  if (fault !== null) {
    return <Alert text={fault} />
  }
  return (
    <>
      <Entries
        of={events}
        none={audit.nothing}
        row={(event) => (
          <Entry
            title={
              <>
                <strong>{nameAction(words, event)}</strong> <Target words={words} event={event} />
              </>
            }
            facts={[...describeParties(words, event, you), ...describeDetail(words, event), <Moment words={words} at={event.at} />]}
            more={<NamedItems words={words} event={event} />}
          />
        )}
      />
      <nav class="pages" aria-label={pages}>
        {query.has('cursor') ? <a href={toListUrl(path, filters)}>{words.sorts.newest}</a> : null}
        {nextCursor === null ? null : <Link to={toListUrl(path, { ...filters, cursor: nextCursor })} rel="next" text={audit.older} />}
      </nav>
    </>
  )
}

/** The name of what was done. The end of all sessions is "elsewhere" for the person, and "everywhere" when somebody else did it. */
function nameAction({ audit }: Words, { action, actor, target }: AuditRecord): string {
  return action === 'sessions_ended' && actor?.id !== target.id ? audit.signedOutEverywhere : audit.actions[action]
}

/** The target: its title or name where the reader may see it, else the start of its id. */
const Target: FC<{ words: Words; event: AuditRecord }> = ({ words: { audit, kinds }, event: { action, actor, target, detail } }) => {
  const kind = AUDIT_ACTIONS[action]
  const { id, name } = target
  // Who acted on their own account, or their items, is named below.
  if (id === null || id === actor?.id) return null
  if (kind === 'item' && name !== null) return <a href={`/${detail.kind ?? 'prompt'}s/${id}`}>{name}</a>
  if ((kind === 'user' || kind === 'team') && name !== null) return <a href={`/@${encodeURIComponent(name)}`}>{name}</a>
  if (kind === 'collection' && name !== null) return <a href={`/collections/${id}`}>{name}</a>
  if (name !== null) return <span>{name}</span>
  const what = kind === 'item' && detail.kind ? kinds[detail.kind] : audit.targets[kind]
  return (
    <span class="quiet">
      {what} <code>{id.slice(0, SHORT_ID)}</code>
    </span>
  )
}

/** The first of many items, as {@link Target} shows one. */
const NamedItems: FC<{ words: Words; event: AuditRecord }> = ({ words, event }) => {
  const { items = [], detail, action: _, ...rest } = event
  const others = (detail.count ?? 0) - items.length
  if (items.length === 0) return null
  return (
    <p class="quiet">
      {items.map((item, place) => (
        <>
          {place === 0 ? '' : ', '}
          <Target words={words} event={{ ...rest, detail, action: 'item_changed', target: { kind: 'item', ...item } }} />
        </>
      ))}{' '}
      {others > 0 ? words.audit.more(others) : null}
    </p>
  )
}

function describeParties({ audit }: Words, { actor, key, owner, surface, target }: AuditRecord, you: string | null): string[] {
  const name = (party: NonNullable<typeof actor>) =>
    party.name === null ? audit.gone(party.id.slice(0, SHORT_ID)) : party.name === you ? audit.you : party.name
  const surfaces: Readonly<Record<string, string>> = audit.surfaces
  const fallback = surface === 'cli' ? audit.operator : surface === 'service' ? audit.service : audit.nobody
  const showsOwner = owner !== null && owner.id !== actor?.id && owner.id !== target.id
  return [
    ...(actor ? [name(actor), surfaces[surface] ?? surface] : [fallback]),
    ...(key ? [audit.key(key.name ?? key.id.slice(0, SHORT_ID))] : []),
    ...(showsOwner ? [audit.of(name(owner))] : []),
  ]
}

function describeDetail({ audit, visibilities, roles, teams, scopeNames }: Words, { action, detail, into }: AuditRecord): string[] {
  const { version, restored, first, last, fields, from, to, role, teamRole, byGroup, scopes, setting, added, removed, moved, count } =
    detail
  const told = <T,>(value: T | undefined, tell: (value: T) => string) => (value === undefined ? [] : [tell(value)])
  return [
    ...told(count, audit.items),
    ...told(version === 1 ? undefined : version, audit.version),
    ...told(restored, audit.fromVersion),
    ...(first === undefined || last === undefined ? [] : [audit.versions(first, last)]),
    ...told(fields, (names) => names.map((field) => audit.fields[field]).join(', ')),
    ...told(to, (now) => (from === undefined ? visibilities[now] : `${visibilities[from]} → ${visibilities[now]}`)),
    ...told(role, (given) => roles[given]),
    ...told(teamRole, (given) => teams.roles[given]),
    ...(byGroup ? [audit.byGroup] : []),
    ...told(scopes, (given) => given.map((scope) => scopeNames[scope]).join(', ')),
    ...told(setting, (changed) => audit.settings[changed]),
    ...(into === null ? [] : [audit.into(into.name ?? `${audit.targets.category} ${into.id}`)]),
    ...told(added, audit.added),
    ...told(removed, audit.removed),
    ...told(moved, audit.moved),
    ...(action === 'items_imported' ? [audit.counts(detail.created ?? 0, detail.updated ?? 0)] : []),
  ]
}
