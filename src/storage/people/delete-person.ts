import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { ItemKind } from '../../domain/items/items.ts'
import { audienceOf } from '../../domain/items/visibility.ts'
import { hasRight } from '../../domain/people/teams.ts'
import { AppError } from '../../errors.ts'
import { touchItems } from '../change-log.ts'
import { removeCollectionsOf } from '../collections/write-collections.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import { seqOf } from '../items/item-rows.ts'
import { handOver } from '../items/ownership.ts'
import { removeItems } from '../items/remove-items.ts'
import type { WriteContext } from '../items/write-context.ts'
import { batches, ITEMS_A_BATCH } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { hasOtherMaintainer } from './team-rows.ts'
import { markDeleted } from './teams.ts'
import { findOwner, findRole, findUserSeq, hadName } from './user-rows.ts'

/**
 * The first half of removing a person, in one transaction: after it they cannot act, nothing of theirs is visible, and nothing new can
 * become theirs. The row gets another id, so cached sessions and keys name nobody.
 * @param removed the row's new id, the time, and whether the name stays reserved for other reasons than what is owned now
 * @returns the row's number, for {@link finishRemoval}
 */
export async function beginRemoval(
  db: Kysely<Database>,
  notes: WriteNotes,
  person: { readonly id: string; readonly username: string },
  removed: { readonly id: string; readonly at: string; readonly keepsName: boolean },
): Promise<number> {
  const { seq } = await db.selectFrom('user').select('seq').where('id', '=', person.id).executeTakeFirstOrThrow()
  await removeTraces(db, seq, person)
  await removeCollectionsOf(db, seq)
  const voted = await db.deleteFrom('vote').where('user_seq', '=', seq).returning('item_seq').execute()
  for (const part of batches(voted.map((vote) => vote.item_seq))) {
    await db
      .updateTable('item')
      .set((eb) => ({ votes: eb('votes', '-', 1) }))
      .where('seq', 'in', part)
      .execute()
    await touchItems(db, part)
    await nextTurn()
  }
  const owned = await db.selectFrom('item').select(['seq', 'kind', 'visibility']).where('owner_seq', '=', seq).execute()
  let hadPublic = removed.keepsName
  for (const part of batches(owned.map((item) => item.seq))) {
    const hidden = await db
      .updateTable('item')
      .set((eb) => ({ deleted_at: eb.fn.coalesce('deleted_at', eb.val(removed.at)) }))
      .where('seq', 'in', part)
      .returning('was_public')
      .execute()
    hadPublic ||= hidden.some((item) => item.was_public === 1)
    await touchItems(db, part)
    await nextTurn()
  }
  for (const kind of new Set<ItemKind>(owned.map((item) => item.kind))) {
    const audience = audienceOf(...owned.filter((item) => item.kind === kind).map((item) => item.visibility))
    notes.changed({ kind, ownerId: person.id, audience, isPurge: true })
  }
  await db
    .updateTable('user')
    .set({
      id: removed.id,
      created_at: removed.at,
      role: 'user',
      role_given_by: null,
      display_name: null,
      bio: null,
      website: null,
      language: null,
      default_visibility: 'private',
      suspended_at: null,
      seen_on: null,
      removal: hadPublic ? 'keep_name' : 'free_name',
    })
    .where('seq', '=', seq)
    .execute()
  return seq
}

/** Removes logins, sessions and usage. Callers and session owners are named as in `nameCaller` and `sessionOwner`. */
async function removeTraces(db: Kysely<Database>, seq: number, { id, username }: { id: string; username: string }): Promise<void> {
  const keys = db.selectFrom('api_key').where('user_seq', '=', seq)
  await db
    .deleteFrom('improve_usage')
    .where((eb) => eb.or([eb('caller', '=', `user ${id}`), eb('caller', 'in', keys.select(sql<string>`'key ' || id`.as('caller')))]))
    .execute()
  await db.deleteFrom('use_count').where('key_id', 'in', keys.select('id')).execute()
  await db.deleteFrom('api_key').where('user_seq', '=', seq).execute()
  for (const table of ['oauth_access_token', 'oauth_refresh_token', 'oauth_consent'] as const) {
    await db.deleteFrom(table).where('user_id', '=', id).execute()
  }
  await db.deleteFrom('sync_state').where('user_seq', '=', seq).execute()
  await db.deleteFrom('embed').where('owner_seq', '=', seq).execute()
  await db.deleteFrom('team_member').where('user_seq', '=', seq).execute()
  await db.deleteFrom('favourite').where('user_seq', '=', seq).execute()
  await db.deleteFrom('form_draft').where('owner_seq', '=', seq).execute()
  await db.deleteFrom('login_verification').where('value', '=', id).execute()
  await db.deleteFrom('login').where('id', '=', id).execute()
  // An unused invite keeps its name: without one it would be valid for any.
  await db.updateTable('invite').set({ used_by: null, username: null }).where('used_by', '=', username).execute()
}

/** Removes what is left of a person in separate transactions, then the row. Safe to repeat, and to run concurrently. */
export async function finishRemoval(context: WriteContext, userSeq: number): Promise<void> {
  while (await context.transact((db) => purgeSome(db, userSeq))) await nextTurn()
  await context.sweep()
  await context.transact((db) => removeUser(db, userSeq))
  await context.emptyLog()
}

/** Continues removals that were interrupted. */
export async function finishRemovals(context: WriteContext, onProgress: (done: number, of: number) => void = () => {}): Promise<void> {
  const rows = await context.reader.selectFrom('user').select('seq').where('removal', 'is not', null).execute()
  for (const [done, { seq }] of rows.entries()) {
    onProgress(done, rows.length)
    await finishRemoval(context, seq)
  }
}

/** Removes some items with all their data. False when there are none left. */
async function purgeSome(db: Kysely<Database>, userSeq: number): Promise<boolean> {
  const items = await db.selectFrom('item').select('seq').where('owner_seq', '=', userSeq).limit(ITEMS_A_BATCH).execute()
  if (items.length === 0) return false
  await removeItems(db, items.map(seqOf))
  return true
}

/**
 * Finishes a removal. The author of items that others own becomes a placeholder with nothing but the name. A name under which something was
 * public stays reserved, because its links must not lead to a stranger.
 */
async function removeUser(db: Kysely<Database>, userSeq: number): Promise<void> {
  const user = await db
    .selectFrom('user')
    .select(['id', 'username_key', 'removal'])
    .where('seq', '=', userSeq)
    .where('removal', 'is not', null)
    .executeTakeFirst()
  if (!user) return
  const isNamed =
    (await db.selectFrom('item').select('seq').where('author_seq', '=', userSeq).limit(1).executeTakeFirst()) ??
    (await db.selectFrom('version').select('seq').where('author_seq', '=', userSeq).limit(1).executeTakeFirst())
  if (!isNamed && user.removal === 'free_name') {
    await db.deleteFrom('user').where('seq', '=', userSeq).execute()
    return
  }
  const taken = await db.selectFrom('user').select('seq').where('contributor_key', '=', user.username_key).executeTakeFirst()
  const contributor = taken ? user.id : user.username_key
  await db
    .updateTable('user')
    .set({ removal: null, ...(isNamed ? { contributor_key: contributor } : {}) })
    .where('seq', '=', userSeq)
    .execute()
}

/** Teams that a refusal names. */
const NAMED = 5

/**
 * Ends the memberships of a person who is being removed, and the teams that have nobody and nothing else.
 * @throws AppError `conflict` for the last maintainer of a team with other members or items, unless an administrator removes them: then
 * the team is orphaned
 */
export async function leaveTeams(
  db: Kysely<Database>,
  notes: WriteNotes,
  person: { readonly id: string },
  { isByAdmin, at }: { readonly isByAdmin: boolean; readonly at: string },
): Promise<void> {
  const memberships = await db
    .selectFrom('team_member')
    .innerJoin('user as team', 'team.seq', 'team_member.team_seq')
    .innerJoin('user as member', 'member.seq', 'team_member.user_seq')
    .select(['team_member.role', 'team.seq', 'team.id', 'team.username as name', 'member.seq as user_seq'])
    .select(
      sql`exists (select 1 from team_member as other where other.team_seq = team.seq and other.user_seq <> member.seq)`.as('has_others'),
    )
    .select(sql`exists (select 1 from item where item.owner_seq = team.seq)`.as('has_items'))
    .where('member.id', '=', person.id)
    .orderBy('team.username_key')
    .execute()
  const left: string[] = []
  for (const team of memberships) {
    const isNeeded = Boolean(team.has_others) || Boolean(team.has_items)
    if (isNeeded && team.role === 'maintainer' && !(await hasOtherMaintainer(db, team.seq, team.user_seq))) left.push(team.name)
    await db.deleteFrom('team_member').where('team_seq', '=', team.seq).where('user_seq', '=', team.user_seq).execute()
    notes.audit({ action: 'team_member_removed', targetId: person.id, ownerId: team.id })
    if (isNeeded) continue
    await markDeleted(db, team.seq, at)
    notes.audit({ action: 'team_deleted', targetId: team.id, ownerId: team.id })
  }
  if (left.length === 0 || isByAdmin) return
  const names = left
    .slice(0, NAMED)
    .map((name) => `"${name}"`)
    .join(', ')
  throw new AppError(
    'conflict',
    `This is the last maintainer of ${names}${left.length > NAMED ? ' and others' : ''}. Make somebody else a maintainer, or delete what the team owns and the team, first.`,
  )
}

/** To whom the items of somebody who is being removed go, and which administrator says so; null: the person themselves. */
interface HandOver {
  readonly to: string
  readonly adminId: string | null
  /** When, in ISO 8601. */
  readonly at: string
}

interface Receiver {
  readonly seq: number
  readonly id: string
}

/**
 * The possible receiver of items that an administrator hands over, by its name or, for a team, a former name.
 * @throws AppError `not_found`, `conflict`
 */
async function requireReceiver(db: Kysely<Database>, name: string): Promise<Receiver> {
  const row = await db
    .selectFrom('user')
    .select(['seq', 'id', 'username', 'is_team', 'suspended_at', 'contributor_key'])
    .where((eb) => eb.or([eb('username_key', '=', name.toLowerCase()), hadName(eb, name)]))
    .where('removal', 'is', null)
    .executeTakeFirst()
  // A team that was deleted is none.
  if (!row || (row.is_team === 1 && row.suspended_at !== null)) {
    throw new AppError('not_found', `There is no user or team named "${name.slice(0, 80)}".`)
  }
  if (row.contributor_key !== null) {
    throw new AppError('conflict', `"${row.username}" is an imported author without an account, and cannot own items.`)
  }
  if (row.suspended_at !== null) throw new AppError('conflict', `The account of ${row.username} is suspended.`)
  return { seq: row.seq, id: row.id }
}

/** A team that somebody maintains. @throws AppError `forbidden` */
async function requireMaintained(db: Kysely<Database>, userId: string, name: string): Promise<Receiver> {
  const owner = await findOwner(db, userId, { name })
  if (!owner || !hasRight(owner.role, 'transfer')) {
    throw new AppError(
      'forbidden',
      `You maintain no team named "${name.slice(0, 80)}". Transfer items to teams that you edit for one by one first, or ask an administrator to hand them over.`,
    )
  }
  return { id: owner.id, seq: await findUserSeq(db, owner.id) }
}

/**
 * Gives all items of a person who is suspended or being removed to another owner. A person gives them to a team they maintain; an administrator to
 * anybody, but not where that would show them private items.
 * @returns how many they were, and whether any of them was ever public
 * @throws AppError `not_found`, `forbidden`, `conflict`
 */
export async function handOverItems(
  db: Kysely<Database>,
  notes: WriteNotes,
  person: { readonly id: string },
  { to: name, adminId, at }: HandOver,
): Promise<{ readonly count: number; readonly hadPublic: boolean }> {
  const to = adminId === null ? await requireMaintained(db, person.id, name) : await requireReceiver(db, name)
  if (to.id === person.id) throw new AppError('conflict', 'Hand the items to somebody else than their owner.')
  if (adminId !== null && (await findRole(db, adminId, to.id)) !== null) {
    throw new AppError(
      'forbidden',
      'An administrator may not hand items to themselves or to a team they are in: that would show them private items.',
    )
  }
  const seq = await findUserSeq(db, person.id)
  const { count, hadPublic } = await handOver(db, notes, { seq, id: person.id }, to, at)
  if (count > 0) notes.audit({ action: 'items_handed_over', targetId: person.id, ownerId: to.id, detail: { created: count } })
  return { count, hadPublic }
}
