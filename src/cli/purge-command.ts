import type { Command } from 'commander'
import { z } from 'zod'
import { deleteCopies } from '../app.ts'
import { loadConfig } from '../config/load-config.ts'
import { AppError } from '../errors.ts'
import { type Actor, PERSON_RIGHTS } from '../library/actor.ts'
import type { Output } from '../operations/core/define-operation.ts'
import { type CallOperation, callLocally } from '../operations/core/invoke.ts'
import { purgeFile, purgeItem, purgeVersions, showPurge } from '../operations/items/purge.ts'
import { EXISTING, OPERATOR, requireAccount, type WithApp } from './people-commands.ts'
import { plural } from './plural.ts'

interface PurgeFlags {
  readonly user?: string
  readonly versions?: string
  readonly file?: string
  readonly backups?: true
  readonly yes?: true
}

const collectionArgument = z.enum(['prompts', 'skills'])
type Purge = Output<typeof showPurge>

/** @throws AppError `invalid_input` */
function readRange(text: string): { first: number; last: number } {
  const [, first, last] = /^([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$/.exec(text) ?? []
  if (first === undefined)
    throw new AppError('invalid_input', `--versions is a number or a range such as 1-3; it is "${text.slice(0, 40)}".`)
  return { first: Number(first), last: Number(last ?? first) }
}

/** A deletion that was asked for. */
interface Deletion {
  /** What would be deleted of the item, in words. */
  readonly what: string
  readonly isWholeItem: boolean
  /** Deletes it; gives how many versions went, where that is counted. */
  run(call: CallOperation, id: string): Promise<number | null>
}

/** @throws AppError `invalid_input` */
function readDeletion(collection: 'prompts' | 'skills', { versions, file }: PurgeFlags): Deletion {
  if (versions !== undefined && file !== undefined) throw new AppError('invalid_input', 'Give --versions or --file, not both.')
  if (file !== undefined) {
    if (collection !== 'skills') throw new AppError('invalid_input', '--file is for skills.')
    return {
      what: `What "${file}" held in older versions of`,
      isWholeItem: false,
      run: async (call, id) => (await call(purgeFile, { id, filename: file })).removed,
    }
  }
  if (versions === undefined) {
    const run = async (call: CallOperation, id: string) => {
      await call(purgeItem, { collection, id })
      return null
    }
    return { what: 'All of', isWholeItem: true, run }
  }
  const range = readRange(versions)
  return {
    what: `Versions ${range.first} to ${range.last} of`,
    isWholeItem: false,
    run: async (call, id) => (await call(purgeVersions, { collection, id, ...range })).removed,
  }
}

/** Says before what `--yes` would be refused for. @throws AppError as the operation does */
function refuseHistory({ isOwner, version }: Purge, { versions }: PurgeFlags): void {
  if (!isOwner || version === null) {
    throw new AppError('forbidden', 'Only the owner may change the history of an item, and not while it is in the trash.')
  }
  if (versions !== undefined && readRange(versions).last >= version) {
    throw new AppError('conflict', `Version ${version} is the newest: it is what the item is. Change it first, or delete it as a whole.`)
  }
}

/** What may still hold a text after it was deleted. */
function describeCopies({ backups, upgrades, replaced }: Purge['copies']): string {
  const parts = [
    ...(backups > 0 ? [`${backups} in BACKUP_DIR`] : []),
    ...(upgrades > 0 ? [`${upgrades} made before upgrades`] : []),
    ...(replaced > 0 ? [`${replaced} set aside by restores`] : []),
  ]
  const here =
    parts.length === 0
      ? ''
      : `Copies of the library on this machine may still hold it: ${parts.join(', ')}; "purge --backups" deletes them. `
  return `${here}Copies kept elsewhere may hold it too.\n`
}

/** `purge`: deletes for good. */
export function addPurgeCommand(program: Command, withApp: WithApp): void {
  program
    .command('purge [collection] [id]')
    .description(
      'Delete a prompt or skill, some of its older versions, or a file in them for good. Without --yes, only say what would be deleted. With --backups, also delete the copies of the library that the service made on this machine.',
    )
    .option('--user <name>', 'act as this owner (default: an administrator, who may delete whole items that are public, or unlisted by id)')
    .option('--versions <range>', 'only these versions, such as 3 or 1-3; not the newest')
    .option('--file <name>', 'only what this file of a skill held in older versions')
    .option('--backups', 'delete backups in BACKUP_DIR, copies made before upgrades, and libraries set aside by restores')
    .option('--yes', 'do it')
    .action(async (collection: string | undefined, id: string | undefined, flags: PurgeFlags) => {
      if (collection === undefined && !flags.backups)
        throw new AppError('invalid_input', 'Name what to delete, such as: purge prompts ID --user NAME')
      if (collection !== undefined) await purgeOne(withApp, collection, id, flags)
      if (flags.backups) purgeCopies(flags.yes === true)
    })
}

async function purgeOne(withApp: WithApp, collection: string, id: string | undefined, flags: PurgeFlags): Promise<void> {
  const parsed = collectionArgument.safeParse(collection)
  if (!parsed.success || id === undefined) throw new AppError('invalid_input', 'Name prompts or skills, and an id or address.')
  const { what, isWholeItem, run } = readDeletion(parsed.data, flags)
  await withApp(async (app) => {
    const actor: Actor = flags.user === undefined ? OPERATOR : actAsPerson(await requireAccount(app, flags.user))
    const call = callLocally(() => app.contextFor(actor, 'cli'))
    const found = await call(showPurge, { collection: parsed.data, id })
    const item = `the ${parsed.data === 'prompts' ? 'prompt' : 'skill'} "${found.title}" (${found.id})`
    if (!flags.yes) {
      if (!isWholeItem) refuseHistory(found, flags)
      process.stdout.write(`${what} ${item} would be deleted for good. Add --yes to do it.\n${describeCopies(found.copies)}`)
      return
    }
    const removed = await run(call, found.id)
    process.stdout.write(
      `${what} ${item}: deleted for good${removed === null ? '' : ` (${plural(removed, 'version')})`}.\n${describeCopies(found.copies)}`,
    )
  }, EXISTING)
}

function actAsPerson({ id, username }: { readonly id: string; readonly username: string }): Actor {
  return { kind: 'user', userId: id, username, scopes: new Set(PERSON_RIGHTS) }
}

function purgeCopies(isMeant: boolean): void {
  const { DATABASE_URL, BACKUP_DIR } = loadConfig()
  const found = deleteCopies(DATABASE_URL, BACKUP_DIR, isMeant)
  for (const { path } of found) process.stdout.write(`${path}\n`)
  const count = plural(found.length, 'file')
  process.stdout.write(isMeant ? `Deleted ${count}.\n` : `${count} would be deleted. Add --yes to do it.\n`)
}
