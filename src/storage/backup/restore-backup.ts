import { chownSync, existsSync, linkSync, mkdirSync, realpathSync, renameSync, statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { TEAM_ROLES, type TeamRole } from '../../domain/people/teams.ts'
import type { Clock, Random } from '../../domain/ports/environment.ts'
import { OPERATOR_ORIGIN } from '../../domain/service/audit.ts'
import { AppError } from '../../errors.ts'
import type { WordVectors } from '../../search/vectors/word-vectors.ts'
import { checkLibraryFile, rebuildFile } from '../copy/library-file.ts'
import type { OpenDatabase } from '../dialects/dialect.ts'
import { removeSnapshots } from '../dialects/snapshot-file.ts'
import { openSqlite } from '../dialects/sqlite.ts'
import { COMPANIONS, checkSqliteFile, foldLog, refuseForeignLog, removeFile, syncFile } from '../dialects/sqlite-copy.ts'
import { dropValue } from '../kept-values.ts'
import { createStore, type LibraryStore } from '../store.ts'
import { type Afterwards, type HeldLibrary, holdLibrary, readMadeAt } from './present-library.ts'

/** Sign-ins of people and programs, pending and done, and what processes of then had under way. */
const ENDED_TABLES = [
  'login_session',
  'login_verification',
  'oauth_access_token',
  'oauth_refresh_token',
  'oauth_consent',
  'oauth_client_assertion',
  'ended_session',
  'counter',
  'embedding_claim',
] as const

/** The changes of a restore to the backup before it became the library. */
export interface Restored {
  /** Whether later revocations and removals are known: the replaced library is the same one, and was readable. */
  readonly knewLater: boolean
  readonly revokedKeys: number
  readonly removedUsers: readonly string[]
  /** Removed since, but restored as the only administrator of that time. */
  readonly returnedUsers: readonly string[]
  /** Memberships of teams that ended or got a lesser role since, and do so again. */
  readonly loweredMemberships: number
  /** Versions, and files of versions, that were purged since and are deleted again. */
  readonly removedParts: number
  /** Ids of items deleted again because they, or all versions in the backup, were purged since. */
  readonly removedItems: readonly string[]
  /** The keys that work now. */
  readonly validKeys: readonly { readonly id: string; readonly name: string; readonly username: string }[]
}

/**
 * Makes a copy of a backup ready to be the library: brought up to date, without sessions and links of then, and without the keys, users and
 * members of teams that were removed since, as far as `afterwards` tells.
 * @param options.revokesKeys whether no key works afterwards
 * @param options.vectors for the items whose words are read anew
 */
export async function prepareRestored(
  path: string,
  afterwards: Afterwards | null,
  options: { revokesKeys: boolean; clock: Clock; random: Random; vectors: WordVectors },
): Promise<Restored> {
  const database = openSqlite(path)
  const store = await createStore(database, options).catch(async (error) => {
    await database.close()
    throw error
  })
  try {
    return await store.audit.actingAs(OPERATOR_ORIGIN, async () => {
      const restored = await adapt(database, store, afterwards, options)
      await store.audit.recordEvent({ action: 'backup_restored', targetId: null, ownerId: null })
      return restored
    })
  } finally {
    await store.close()
  }
}

async function adapt(
  database: OpenDatabase,
  store: LibraryStore,
  afterwards: Afterwards | null,
  options: { readonly revokesKeys: boolean; readonly clock: Clock },
): Promise<Restored> {
  await database.transact(async (db) => {
    await dropValue(db, 'search_epoch')
    // Their owners may have lost them since, or ended them.
    for (const table of ENDED_TABLES) await db.deleteFrom(table).execute()
    const at = new Date(options.clock()).toISOString()
    await db
      .updateTable('api_key')
      .set({ revoked_at: at })
      .where((eb) => eb.or([eb('client_id', 'is not', null), eb('kind', '=', 'link')]))
      .where('revoked_at', 'is', null)
      .execute()
    await db.updateTable('invite').set({ revoked_at: at }).where('used_at', 'is', null).where('revoked_at', 'is', null).execute()
  })
  const known = afterwards?.madeAt === (await readMadeAt(database.reader)) ? afterwards : null
  const removedUsers: string[] = []
  const returnedUsers: string[] = []
  if (known) {
    const users = await database.reader
      .selectFrom('user')
      .select(['seq', 'id', 'username', 'username_key'])
      .where('removal', 'is', null)
      .execute()
    for (const user of users.filter((one) => wasUserRemoved(known, one))) {
      removedUsers.push(user.username)
      await store.people.deletePerson(user.id, { isByAdmin: true }).catch((error) => {
        if (!(error instanceof AppError) || error.code !== 'conflict') throw error
        returnedUsers.push(...removedUsers.splice(-1))
      })
    }
  }
  const loweredMemberships = known ? await lowerMemberships(database, store, known) : 0
  const { parts: removedParts, items: removedItems } = await store.purges.repeatPurges(known?.purges ?? [])
  let revokedKeys = 0
  for (const key of await database.reader.selectFrom('api_key').select(['seq', 'id']).where('revoked_at', 'is', null).execute()) {
    if (!options.revokesKeys && !(known && wasKeyEnded(known, key))) continue
    await store.keys.revokeKey(key.id)
    revokedKeys++
  }
  for (const { id, userId, within, revokedAt } of await store.keys.listKeys(null)) {
    if (revokedAt !== null || !within || !('team' in within) || (await store.teams.findTeamRole(userId, within.team)) !== null) continue
    await store.keys.revokeKey(id)
    revokedKeys++
  }
  const time = new Date(options.clock()).toISOString()
  const validKeys = (await store.keys.listKeys(null)).filter(
    (key) => key.revokedAt === null && (key.expiresAt === null || key.expiresAt > time),
  )
  return {
    knewLater: known !== null,
    revokedKeys,
    removedUsers,
    returnedUsers,
    loweredMemberships,
    removedParts,
    removedItems,
    validKeys: validKeys.map(({ id, name, username }) => ({ id, name, username })),
  }
}

/** Ends and lowers the memberships that the replaced library no longer has. One of a team or a user that it does not know stays. */
async function lowerMemberships(database: OpenDatabase, store: LibraryStore, known: Afterwards): Promise<number> {
  if (!known.roles) return 0
  const ids = new Set([...known.users.values()].map(({ id }) => id))
  const members = await database.reader
    .selectFrom('team_member')
    .innerJoin('user as team', 'team.seq', 'team_member.team_seq')
    .innerJoin('user as member', 'member.seq', 'team_member.user_seq')
    .select(['team_seq', 'user_seq', 'team_member.role', 'team.id as teamId', 'member.seq', 'member.id', 'member.username_key'])
    .execute()
  let lowered = 0
  for (const member of members) {
    const isRemoved = wasUserRemoved(known, member)
    if (!isRemoved && !(ids.has(member.teamId) && ids.has(member.id))) continue
    const now: TeamRole | null = (!isRemoved && known.roles.get(`${member.teamId} ${member.id}`)) || null
    if (now !== null && TEAM_ROLES.indexOf(now) >= TEAM_ROLES.indexOf(member.role)) continue
    await database.transact(async (db) => {
      const { team_seq: teamSeq, user_seq: userSeq } = member
      if (now === null) await db.deleteFrom('team_member').where('team_seq', '=', teamSeq).where('user_seq', '=', userSeq).execute()
      else await db.updateTable('team_member').set({ role: now }).where('team_seq', '=', teamSeq).where('user_seq', '=', userSeq).execute()
    })
    const target = { targetId: member.id, ownerId: member.teamId }
    if (now === null) await store.audit.recordEvent({ action: 'team_member_removed', ...target })
    else await store.audit.recordEvent({ action: 'team_member_role_changed', ...target, detail: { teamRole: now } })
    lowered++
  }
  return lowered
}

/** Revoked or removed since. A row of this number with another key means that the two libraries diverged. */
function wasKeyEnded({ keys, lastKey }: Afterwards, { seq, id }: { seq: number; id: string }): boolean {
  const now = keys.get(seq)
  return now ? now.id === id && now.revoked_at !== null : seq <= lastKey
}

/** A removed user has no row, or a row of the same name with another id. */
function wasUserRemoved(
  { users, lastUser }: Afterwards,
  { seq, id, username_key: name }: { seq: number; id: string; username_key: string },
): boolean {
  const now = users.get(seq)
  return now ? now.id !== id && now.username_key === name : seq <= lastUser
}

/** Temporary name of the new library. */
const PREPARED = '.restoring'

/** The steps of a restore. A kill at any of them leaves the old or the new library whole. */
export const RESTORE_STEPS = ['checked', 'held', 'copied', 'prepared', 'kept', 'cleared', 'placed', 'verified'] as const

/** How a backup is restored. */
export interface RestoreOptions {
  /** Whether all keys end. Default: false. */
  readonly revokesKeys?: boolean
  /** Whether to replace a library that cannot be read, and so may be in use. Default: false. */
  readonly replacesUnreadable?: boolean
  readonly clock: Clock
  readonly random: Random
  readonly vectors: WordVectors
  /** Called after each step. */
  readonly onStep?: (step: (typeof RESTORE_STEPS)[number]) => void
}

/** The result of a restore. */
export interface RestoreReport extends Restored {
  /** Where the replaced library is now; null when there was none. */
  readonly keptAs: string | null
  /** Whether the backup matched its manifest. */
  readonly hadManifest: boolean
}

/**
 * Puts a backup in the place of a library file. The replaced file is kept beside it.
 * @throws AppError `not_found` for a missing backup; `conflict` while the library is in use, for a log beside the backup, and for a library
 * that cannot be read; `unavailable` for a backup that is damaged or of a newer version
 */
export async function restoreFile(backup: string, path: string, options: RestoreOptions): Promise<RestoreReport> {
  const { onStep = () => {} } = options
  refuseSource(backup, path)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const prepared = `${path}${PREPARED}`
  onStep('checked')
  if (existsSync(path)) refuseForeignLog(path)
  const held = existsSync(path) ? await holdLibrary(path) : null
  try {
    refuseUnreadable(held, path, options.replacesUnreadable ?? false)
    onStep('held')
    removeFile(prepared)
    const hadManifest = await rebuildChecked(backup, prepared)
    onStep('copied')
    const restored = await prepareRestored(prepared, held?.afterwards ?? null, { revokesKeys: false, ...options })
    foldLog(prepared)
    giveToOwner(prepared, path)
    syncFile(prepared)
    onStep('prepared')
    const keptAs = await keepPresent(path, new Date(options.clock()))
    onStep('kept')
    if (!held || held.fault !== null) removeFile(path)
    removeSnapshots(path)
    onStep('cleared')
    renameSync(prepared, path)
    syncFile(dirname(path))
    onStep('placed')
    checkSqliteFile(path)
    onStep('verified')
    return { ...restored, keptAs, hadManifest }
  } finally {
    held?.release()
  }
}

/**
 * Prepares a backup for another engine, at a temporary path that is removed after `work`.
 * @param folder where it may be written, readable by nobody else
 * @throws AppError as {@link restoreFile}
 */
export async function withRestored<T>(
  backup: string,
  folder: string,
  options: RestoreOptions,
  work: (path: string) => Promise<T>,
): Promise<{ result: T; restored: Restored & { readonly hadManifest: boolean } }> {
  const path = `${folder}/library.db`
  refuseSource(backup, path)
  try {
    const hadManifest = await rebuildChecked(backup, path)
    const restored = await prepareRestored(path, null, { revokesKeys: false, ...options })
    return { restored: { ...restored, hadManifest }, result: await work(path) }
  } finally {
    removeFile(path)
  }
}

/** @throws AppError `unavailable` when a restore was killed between taking the old library away and putting the new one in its place */
export function refuseCutOffRestore(path: string): void {
  const prepared = `${path}${PREPARED}`
  if (existsSync(path) || !existsSync(prepared)) return
  const message = `A restore of the library at ${path} was interrupted. Run the same restore again, or remove ${prepared} to continue without it.`
  throw new AppError('unavailable', message)
}

function refuseSource(backup: string, path: string): void {
  if (!existsSync(backup)) throw new AppError('not_found', `No backup found at ${backup}.`)
  if (existsSync(path) && realpathSync(path) === realpathSync(backup)) throw new AppError('conflict', `${backup} is the library itself.`)
  for (const suffix of COMPANIONS) {
    const log = `${backup}${suffix}`
    // The index of a log holds no data of its own.
    if (suffix === '-shm' || (statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) continue
    const message = `${log} lies next to the backup. If it belongs to the backup, the backup was copied while in use: create another with "backup". Otherwise move it away.`
    throw new AppError('conflict', message)
  }
}

function refuseUnreadable(held: HeldLibrary | null, path: string, isAllowed: boolean): void {
  if (!held || held.fault === null || isAllowed) return
  const message = `The library at ${path} cannot be read (${held.fault}) and may be in use. Stop the service, then restore with --force.`
  throw new AppError('conflict', message)
}

/** Checks a backup and copies its rows to a new file. Returns whether it had a manifest. */
async function rebuildChecked(backup: string, target: string): Promise<boolean> {
  const said = await checkLibraryFile(backup)
  if (said?.hasLogins === false) {
    throw new AppError('invalid_input', `${backup} has no logins and keys. Import it into an empty library with "import library".`)
  }
  await rebuildFile(backup, target)
  return said !== null
}

/** The service must be able to write what root restores: the file gets the owner of the replaced library, or of the folder. */
function giveToOwner(prepared: string, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(existsSync(path) ? path : dirname(path))
  chownSync(prepared, uid, gid)
}

/** Adds a second name (hard link) to the files of the current library. */
async function keepPresent(path: string, now: Date): Promise<string | null> {
  const present = ['', ...COMPANIONS].filter((suffix) => existsSync(`${path}${suffix}`))
  if (present.length === 0) return null
  const keptAs = findFreeName(`${path}.replaced-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`)
  for (const suffix of present) {
    try {
      linkSync(`${path}${suffix}`, `${keptAs}${suffix}`)
    } catch {
      // Some file systems have no hard links.
      await copyFile(`${path}${suffix}`, `${keptAs}${suffix}`)
      syncFile(`${keptAs}${suffix}`)
    }
  }
  syncFile(dirname(path))
  return keptAs
}

function findFreeName(name: string): string {
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${name}-${count}`
    if (!existsSync(candidate)) return candidate
  }
}
