import { z } from 'zod'
import { categoryNameField } from '../../domain/items/fields.ts'
import { isSlug, slugify } from '../../domain/items/slug.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { requireRight } from '../../domain/people/teams.ts'
import { AUDIT_ACTIONS, type AuditEvent, type AuditQuery, auditDetail, isAuditAction } from '../../domain/service/audit.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { defineOperation } from '../core/define-operation.ts'
import { openCursor } from '../core/inputs.ts'
import { defineProcedure, defineWrite, type Needs, requireUser } from '../core/procedure.ts'
import { when } from '../core/records.ts'
import { requireOwnTeam, teamInput } from '../teams/teams.ts'

const slugInput = z.string().max(64)

/** Count items, versions, people and keys. */
export const countLibrary = defineProcedure({
  scope: 'admin',
  run: async ({ store }) => ({ ...(await store.people.countLibrary()) }),
})

/** List all categories, for those who change them. */
export const listAllCategories = defineProcedure({
  scope: 'admin',
  run: async ({ actor, store }: Needs<'categories'>) => ({ categories: [...(await store.categories.listCategories(actor))] }),
})

/** Create a category at the top level or below another. */
export const createCategory = defineWrite({
  scope: 'admin',
  input: z.object({ name: categoryNameField, slug: slugInput.optional(), parent: slugInput.optional() }),
  async run({ store }: Needs<'categories'>, input) {
    const slug = input.slug || slugify(input.name)
    if (!isSlug(slug)) throw invalidInput('slug', 'slug must be 1 to 64 characters of a-z, 0-9 and single hyphens.')
    await store.categories.createCategory({ slug, name: input.name, parent: input.parent || null })
    return { slug }
  },
})

/** Rename a category; its slug stays. */
export const renameCategory = defineWrite({
  scope: 'admin',
  input: z.object({ slug: slugInput, name: categoryNameField }),
  async run({ store }: Needs<'categories'>, { slug, name }) {
    if (!(await store.categories.renameCategory(slug, name))) throw new AppError('not_found', 'Category not found.')
  },
})

/** Move a category below another, or to the top level. */
export const moveCategory = defineWrite({
  scope: 'admin',
  input: z.object({ slug: slugInput, parent: slugInput.nullable() }),
  async run({ store }: Needs<'categories'>, { slug, parent }) {
    if (!(await store.categories.moveCategory(slug, parent || null))) throw new AppError('not_found', 'Category not found.')
  },
})

/** Move everything in a category into another, and remove it. */
export const mergeCategory = defineWrite({
  scope: 'admin',
  input: z.object({ slug: slugInput, into: slugInput }),
  async run({ store }: Needs<'categories'>, { slug, into }) {
    const moved = await store.categories.mergeCategory(slug, into)
    if (moved === null) throw new AppError('not_found', 'Category not found.')
    return { moved }
  },
})

/** Delete an empty category. */
export const deleteCategory = defineWrite({
  scope: 'admin',
  input: z.object({ slug: slugInput }),
  async run({ store }: Needs<'categories'>, { slug }) {
    if (!(await store.categories.deleteCategory(slug))) throw new AppError('not_found', 'Category not found.')
  },
})

/** The figures of a library at a glance. */
export const showServiceStatus = defineProcedure({
  scope: 'admin',
  async run({ readStatus }: Needs<never, 'readStatus'>) {
    if (!readStatus) throw new AppError('unavailable', 'Only a running service has a status.')
    return { ...(await readStatus()) }
  },
})

/** The purpose of sealed cursors. */
const CURSOR = 'audit events'
/** Characters of an id that are shown where all of it would lead to something hidden: enough to tell one from another. */
const SHORT_ID = 8

const actionNames = z.enum(Object.keys(AUDIT_ACTIONS).filter(isAuditAction))
const party = z.object({ id: z.string(), name: z.string().nullable() }).nullable()

/** An event as its reader sees it. Names are those of now, null for what is gone or hidden. */
const auditRecord = z.object({
  at: when,
  action: actionNames,
  surface: z.string().describe('Where the call came in'),
  actor: party.describe('Who did it; null: anonymous or the service itself'),
  key: party.describe('The API key used'),
  target: z.object({ kind: z.string(), id: z.string().nullable(), name: z.string().nullable() }),
  owner: party.describe('The user it concerns'),
  detail: auditDetail.omit({ items: true }),
  items: z.array(party.unwrap()).optional().describe('Of many items, the first ones'),
  into: party.describe('The category that another was merged into'),
})
export type AuditRecord = z.infer<typeof auditRecord>

/** @param hides whether all of the id of a target may lead to what the reader does not see */
export function toAuditRecord(event: AuditEvent, hides: (kind: string, name: string | null) => boolean): AuditRecord {
  const { at, action, surface, targetId, targetName } = event
  const { items: _, ...detail } = event.detail
  const cut = (id: string, kind: string, name: string | null) => (hides(kind, name) ? id.slice(0, SHORT_ID) : id)
  const kind = AUDIT_ACTIONS[action]
  const id = targetId === null ? null : cut(targetId, kind, targetName)
  const items = event.items.map((item) => ({ ...item, id: cut(item.id, 'item', item.name) }))
  return {
    at,
    action,
    surface,
    actor: toParty(event.actorId, event.actorName),
    key: toParty(event.keyId, event.keyName),
    target: { kind, id, name: targetName },
    owner: toParty(event.ownerId, event.ownerName),
    detail,
    ...(items.length === 0 ? {} : { items }),
    into: toParty(detail.into ?? null, event.intoName),
  }
}

function toParty(id: string | null, name: string | null): z.infer<typeof party> {
  return id === null ? null : { id, name }
}

/** The id of an unlisted item or collection, or of an embed, opens it: others than their owner learn it from nowhere. */
function hidesId(actor: Actor, ownerId: string | null) {
  if (actor.kind === 'user' && ownerId === actor.userId) return () => false
  return (kind: string, name: string | null) => ((kind === 'item' || kind === 'collection') && name === null) || kind === 'embed'
}

/** A day, or a time, in UTC. */
export const sinceInput = z.iso.date().or(z.iso.datetime())

const pageInputs = {
  action: actionNames.optional(),
  since: sinceInput.optional(),
  cursor: z.string().max(500).optional().describe('nextCursor of the previous page'),
  limit: z.number().int().min(1).max(500).default(50),
}
const output = z.object({ events: z.array(auditRecord), nextCursor: z.string().nullable() })

async function readPage(
  context: Needs<'audit', 'sealer'>,
  query: Omit<AuditQuery, 'before'>,
  cursor: string | undefined,
): Promise<z.infer<typeof output>> {
  const { actor, store, sealer } = context
  const before = cursor === undefined ? undefined : openCursor(sealer, CURSOR, cursor, z.number().int())
  const events = await store.audit.listEvents(actor, { ...query, before, limit: query.limit + 1 })
  const page = events.slice(0, query.limit)
  const last = events.length > query.limit ? page.at(-1) : undefined
  return {
    events: page.map((event) => toAuditRecord(event, hidesId(actor, event.ownerId))),
    nextCursor: last ? sealer.seal(CURSOR, String(last.order)) : null,
  }
}

/** The actions of a person, and those of others on the person's things. */
export const listOwnActivity = defineProcedure({
  scope: 'account',
  input: z.object(pageInputs),
  run: async (context, { cursor, ...query }) => await readPage(context, { ...query, aboutId: requireUser(context.actor).userId }, cursor),
})

/** The events of a team and its items, for its maintainers. */
export const listTeamActivity = defineOperation({
  name: 'list_team_activity',
  title: 'Activity of a team',
  summary: 'What was done to a team you maintain, its members and its items, newest first.',
  scope: 'read',
  needsWholeKey: true,
  cost: 5,
  surfaces: { rest: 'GET /api/teams/{team}/activity', cli: 'list-team-activity team' },
  input: z.object({ team: teamInput, ...pageInputs }),
  output,
  async run(context: Needs<'audit' | 'teams', 'sealer'>, { team: name, cursor, ...query }) {
    const { team, role } = await requireOwnTeam(context, name)
    requireRight(role, 'manage', 'read its activity')
    return await readPage(context, { ...query, ownerId: team.id }, cursor)
  },
})

/** The whole audit log. Titles follow public visibility: administrators do not see private titles. */
export const listAuditEvents = defineProcedure({
  scope: 'admin',
  input: z.object({
    ...pageInputs,
    username: z.string().max(64).optional().describe('Events by or about this user'),
    target: z
      .string()
      .regex(/^[0-9a-f-]{8,36}$/i, `must be at least the first ${SHORT_ID} characters of an id.`)
      .optional(),
  }),
  async run(context: Needs<'audit' | 'people', 'sealer'>, { cursor, username, target, ...query }) {
    const person = username === undefined ? null : await context.store.people.findPersonByName(username)
    if (username !== undefined && !person) throw new AppError('not_found', `User "${username.slice(0, 64)}" not found.`)
    return await readPage(context, { ...query, aboutId: person?.id, target: target?.toLowerCase() }, cursor)
  },
})
