import type { Command } from 'commander'
import { z } from 'zod'
import { deleteCopies } from '../app.ts'
import { loadConfig } from '../config/load-config.ts'
import { actorOf, PERSON_RIGHTS } from '../domain/people/actor.ts'
import { AppError } from '../errors.ts'
import { type CallOperation, callLocally } from '../operations/core/define-operation.ts'
import type { Output } from '../operations/core/procedure.ts'
import { purgeFile, purgeItem, purgeVersions, showPurge } from '../operations/items/trash.ts'
import { EXISTING, OPERATOR, requireAccount, type WithApp } from './operator.ts'
import { plural, print } from './terminal.ts'

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
    throw new AppError('invalid_input', `--versions must be a number or a range such as 1-3; got "${text.slice(0, 40)}".`)
  return { first: Number(first), last: Number(last ?? first) }
}

/** The deletion in words, and how to run it; the function gives how many versions went, where that is counted. @throws AppError `invalid_input` */
function readDeletion(collection: 'prompts' | 'skills', { versions, file }: PurgeFlags) {
  if (versions !== undefined && file !== undefined) throw new AppError('invalid_input', 'Use either --versions or --file.')
  if (file !== undefined && collection !== 'skills') throw new AppError('invalid_input', '--file works on skills only.')
  const range = versions === undefined ? null : readRange(versions)
  const what =
    file !== undefined ? `Older contents of "${file}" in` : range ? `Versions ${range.first} to ${range.last} of` : 'All versions of'
  const run = async (call: CallOperation, id: string): Promise<number | null> => {
    if (file !== undefined) return (await call(purgeFile, { id, filename: file })).removed
    if (range) return (await call(purgeVersions, { collection, id, ...range })).removed
    await call(purgeItem, { collection, id })
    return null
  }
  return { what, isWholeItem: file === undefined && range === null, run }
}

/** Rejects in a dry run what `--yes` would reject. @throws AppError as the operation does */
function refuseHistory({ isOwner, version, hasEarlierTags }: Purge, { versions }: PurgeFlags): void {
  if (!isOwner || version === null) {
    throw new AppError('forbidden', 'Only the owner can change the history of an item, and not while it is in the trash.')
  }
  if (versions === undefined) return
  const { last } = readRange(versions)
  if (last > version || (last === version && !hasEarlierTags)) {
    throw new AppError(
      'conflict',
      `Version ${version} is the newest and cannot be deleted alone. Save a new version first, or delete the whole item.`,
    )
  }
}

/** Copies that may still contain deleted text. */
function describeCopies({ backups, upgrades, replaced }: Purge['copies']): string {
  const parts = [
    ...(backups > 0 ? [`${backups} in BACKUP_DIR`] : []),
    ...(upgrades > 0 ? [`${upgrades} made before upgrades`] : []),
    ...(replaced > 0 ? [`${replaced} replaced by restores`] : []),
  ]
  const here =
    parts.length === 0
      ? ''
      : `Copies of the library on this machine may still contain it: ${parts.join(', ')}. Delete them with "purge --backups". `
  return `${here}Copies stored elsewhere may contain it too.\n`
}

/** `purge`: deletes for good. */
export function addPurgeCommand(program: Command, withApp: WithApp): void {
  program
    .command('purge [collection] [id]')
    .description(
      'Delete a prompt or skill, some of its older versions, or a file in them for good. Without --yes, only show what would be deleted. With --backups, also delete copies of the library made by the service on this machine.',
    )
    .option('--user <name>', 'act as this owner (default: administrator, who can delete whole items: public ones, or unlisted ones by id)')
    .option('--versions <range>', 'only these versions, such as 3 or 1-3; the newest stays, and loses its earlier tags and categories')
    .option('--file <name>', 'only the older contents of this file of a skill')
    .option('--backups', 'delete backups in BACKUP_DIR, and the copies of the library that upgrades, restores and imports left')
    .option('--yes', 'delete without asking again')
    .action(async (collection: string | undefined, id: string | undefined, flags: PurgeFlags) => {
      if (collection === undefined && !flags.backups)
        throw new AppError('invalid_input', 'Specify what to delete, such as: purge prompts ID --user NAME')
      if (collection !== undefined) await purgeOne(withApp, collection, id, flags)
      if (flags.backups) purgeCopies(flags.yes === true)
    })
}

async function purgeOne(withApp: WithApp, collection: string, id: string | undefined, flags: PurgeFlags): Promise<void> {
  const parsed = collectionArgument.safeParse(collection)
  if (!parsed.success || id === undefined) throw new AppError('invalid_input', 'Specify prompts or skills, and an id or slug.')
  const { what, isWholeItem, run } = readDeletion(parsed.data, flags)
  await withApp(async (app) => {
    const actor = flags.user === undefined ? OPERATOR : actorOf(await requireAccount(app, flags.user), PERSON_RIGHTS)
    const call = callLocally(() => app.contextFor(actor, 'cli'))
    const found = await call(showPurge, { collection: parsed.data, id })
    const newest = flags.versions !== undefined && readRange(flags.versions).last === found.version ? found.version : null
    const kept = newest === null ? '' : `; of version ${newest}, which stays, earlier tags and categories,`
    const item = `the ${parsed.data === 'prompts' ? 'prompt' : 'skill'} "${found.title}" (${found.id})${kept}`
    if (!flags.yes) {
      if (!isWholeItem) refuseHistory(found, flags)
      print(`${what} ${item} would be deleted for good. Add --yes to delete.\n${describeCopies(found.copies)}`)
      return
    }
    const removed = await run(call, found.id)
    print(
      `${what} ${item}: deleted for good${removed === null ? '' : ` (${plural(removed, 'version')})`}.\n${describeCopies(found.copies)}`,
    )
  }, EXISTING)
}

function purgeCopies(isMeant: boolean): void {
  const { DATABASE_URL, DATA_DIR, BACKUP_DIR } = loadConfig()
  const found = deleteCopies({ databaseUrl: DATABASE_URL, dataFolder: DATA_DIR }, BACKUP_DIR, isMeant)
  for (const { path } of found) print(`${path}\n`)
  const count = plural(found.length, 'file')
  print(isMeant ? `Deleted ${count}.\n` : `Would delete ${count}. Add --yes to delete.\n`)
}
