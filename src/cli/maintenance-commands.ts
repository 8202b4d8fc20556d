import type { Command } from 'commander'
import { type App, backUpLibrary, describeDatabase, examineBackup, examineLibrary, migrateData, restoreLibrary } from '../app.ts'
import { listRemovedSettings, loadConfig, parseDatabaseUrl } from '../config/load-config.ts'
import { ANONYMOUS } from '../domain/people/actor.ts'
import { AUDIT_ACTIONS, isAuditAction } from '../domain/service/audit.ts'
import { AppError } from '../errors.ts'
import { sinceInput, toAuditRecord } from '../operations/admin/administration.ts'
import { EXISTING, type WithApp } from './operator.ts'
import { formatTable, plural, print, printError, printJson, printList, showTables, startProgress } from './terminal.ts'

type Restored = Awaited<ReturnType<typeof restoreLibrary>>

/** The result of a restore, as lines of text. */
function describeRestore(report: Restored): string {
  const { keptAs, hadManifest, knewLater, revokedKeys, removedUsers, returnedUsers, removedParts, removedItems, validKeys } = report
  const { loweredMemberships } = report
  const lines = hadManifest ? [] : ['Another tool created this file: its structure is valid, but completeness could not be checked.']
  if (keptAs !== null) lines.push(`The previous library was moved to ${keptAs} (with its companion files).`)
  lines.push('All browser and MCP sessions, password reset links and open invites have ended.')
  if (revokedKeys > 0) lines.push(`Revoked ${revokedKeys} ${revokedKeys === 1 ? 'key' : 'keys'}.`)
  if (removedUsers.length > 0) lines.push(`Users removed again (deleted after the backup): ${removedUsers.join(', ')}.`)
  if (returnedUsers.length > 0) {
    lines.push(`Users restored although deleted after the backup (the only administrator): ${returnedUsers.join(', ')}.`)
  }
  if (loweredMemberships > 0) {
    lines.push(`Ended or lowered again in teams (as after the backup): ${plural(loweredMemberships, 'membership')}.`)
  }
  if (removedItems.length > 0) {
    lines.push('Items deleted again (they, or their newest version in the backup, were deleted for good after the backup):')
    for (const id of removedItems) lines.push(`  ${id}`)
  }
  if (removedParts > 0) lines.push(`Deleted again from item histories: ${plural(removedParts, 'version or file', 'versions and files')}.`)
  if (!knewLater && validKeys.length > 0) {
    lines.push(
      'Keys, users and members of teams removed after the backup could not be determined. These keys work again; revoke them with "keys revoke" or --revoke-keys:',
    )
    return `${lines.join('\n')}\n${formatTable([['key', 'name', 'user'], ...validKeys.map(({ id, name, username }) => [id, name, username])], null)}`
  }
  return `${lines.join('\n')}\n`
}

/** `backup` and `restore-backup`. */
export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description(
      'Back up the whole library to one file, also while the service is running. The file is verified and written atomically. It is an SQLite library whatever the engine, readable only by you.',
    )
    .argument('<file>', 'path of the backup')
    .option('--force', 'overwrite an existing file')
    .option('--json', 'print {file, format, schema, createdAt, tables: {name: {rows, sha256}}, sha256} as JSON')
    .action(async (file: string, options: { force?: true; json?: true }) => {
      process.umask(0o077)
      const manifest = await backUpLibrary(loadConfig().DATABASE_URL, file, { replaces: options.force === true })
      if (options.json) printJson({ file, ...manifest })
      else {
        const count = (table: string) => manifest.tables[table]?.rows ?? 0
        const held = [plural(count('version'), 'version'), plural(count('user'), 'user')]
        print(`Wrote ${file}: ${plural(count('item'), 'item')} with ${held.join(', ')}.\n`)
      }
    })
  program
    .command('restore-backup')
    .description(
      'Replace the library with a backup. Stop the service first: a library in use is refused. The backup is verified before anything changes, and the previous library is kept next to it. Keys, users and members of teams removed since the backup are removed again if the previous library is readable. On PostgreSQL, DATABASE_URL must name an empty database.',
    )
    .argument('<file>', 'path of the backup')
    .option('--revoke-keys', 'revoke all API keys')
    .option('--force', 'replace an unreadable library, even if it might be in use')
    .option(
      '--json',
      'print {keptAs, hadManifest, knewLater, revokedKeys, removedUsers, returnedUsers, loweredMemberships, removedParts, removedItems, validKeys} as JSON',
    )
    .action(async (file: string, options: { revokeKeys?: true; force?: true; json?: true }) => {
      process.umask(0o077)
      const { DATABASE_URL } = loadConfig()
      const report = await restoreLibrary(file, DATABASE_URL, {
        revokesKeys: options.revokeKeys === true,
        replacesUnreadable: options.force === true,
      })
      if (options.json) printJson(report)
      else print(`Restored ${describeDatabase(DATABASE_URL)} from ${file}.\n${describeRestore(report)}`)
    })
}

type Migration = Awaited<ReturnType<typeof migrateData>>

/** Digits of a digest that the table shows; `--json` has all. */
const SHOWN_DIGITS = 16

function toTable({ tables }: Migration): string {
  const rows = tables.map(({ name, from, to }) => [
    name,
    String(from.rows),
    String(to.rows),
    from.sha256.slice(0, SHOWN_DIGITS),
    to.sha256.slice(0, SHOWN_DIGITS),
    from.sha256 === to.sha256 ? 'same' : 'DIFFERENT',
  ])
  return formatTable([['table', 'rows', 'copied', 'digest', 'copy digest', ''], ...rows], null)
}

/** `migrate-data`. */
export function addDataCommand(program: Command): void {
  program
    .command('migrate-data')
    .description(
      'Copy a library into an empty database of either engine, compare the two, and keep the copy if they are the same: all of it or nothing. Stop the service first: a source that changes meanwhile is refused. Both are migrated to the current schema.',
    )
    .requiredOption('--from <address>', 'source: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE')
    .option('--to <address>', 'empty target database (default: DATABASE_URL)')
    .option('--json', 'print {tables: [{name, from: {rows, sha256}, to}], fault} as JSON')
    .action(async (options: { from: string; to?: string; json?: true }) => {
      const from = parseDatabaseUrl('--from', options.from)
      const to = options.to === undefined ? loadConfig().DATABASE_URL : parseDatabaseUrl('--to', options.to)
      const shown = showTables()
      const report = await migrateData(from, to, shown.advance).finally(shown.stop)
      const { tables, fault } = report
      if (options.json) printJson({ tables, fault })
      else print(toTable(report))
      if (fault !== null) throw new AppError('conflict', fault)
      if (!options.json) print('The copy matches the source.\n')
    })
}

type Finding = Awaited<ReturnType<typeof examineLibrary>>[number]

/** Exit status when a check fails. */
const FAULTS_FOUND = 1

/** One line per check, plus one per listed fault. */
function toLines({ check, state, count, faults, isRepairable }: Finding): string {
  const remedy = isRepairable ? '  (fix with doctor --repair)' : ''
  const line = state === 'fault' ? `${check}: ${count}${remedy}` : check
  const more = count > faults.length ? [`          and ${count - faults.length} more`] : []
  return [`${state.padEnd(8)}  ${line}`, ...faults.map((fault) => `          ${fault}`), ...more].join('\n')
}

/** `doctor`. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'Check the integrity of the library or a backup: structure, file digests, versions, votes, slugs and search words. Prints one line per check and exits with 1 if one fails. Safe while the service is running.',
    )
    .argument('[backup]', 'check this backup instead of the library')
    .option('--repair', 'fix what can be rebuilt: vote counts, search words, unused files, vectors')
    .option('--vacuum', 'reclaim free space in the file (SQLite)')
    .option('--json', 'print [{check, state, count, faults, isRepairable}] as JSON')
    .action(async (backup: string | undefined, options: { repair?: true; vacuum?: true; json?: true }) => {
      if (backup !== undefined && (options.repair || options.vacuum)) {
        throw new AppError('invalid_input', '--repair and --vacuum work on the library only; backups are read-only.')
      }
      for (const sentence of listRemovedSettings()) process.stderr.write(`${sentence}\n`)
      const findings =
        backup === undefined
          ? await examineLibrary(loadConfig().DATABASE_URL, { repairs: options.repair === true, compacts: options.vacuum === true })
          : await examineBackup(backup)
      if (options.json) printJson(findings)
      else print(`${findings.map(toLines).join('\n')}\n`)
      if (findings.some(({ state }) => state === 'fault')) process.exitCode = FAULTS_FOUND
    })
}

type ItemEncoding = NonNullable<App['itemEncoding']>

/** @throws AppError `invalid_input` when there is none */
function requireEncoder({ itemEncoding }: App): ItemEncoding {
  if (itemEncoding) return itemEncoding
  throw new AppError('invalid_input', 'The encoder is off. Set ENCODER=on to use it.')
}

/** @throws AppError `invalid_input` when no provider is set */
function requireProvider(app: App): ItemEncoding {
  if (app.provider) return requireEncoder(app)
  throw new AppError('invalid_input', 'No embeddings provider is configured. Set EMBEDDINGS_URL and EMBEDDINGS_MODEL.')
}

async function printStatus({ model, countItems }: ItemEncoding, items: string, isJson = false): Promise<void> {
  const { total, embedded, pending } = await countItems()
  if (isJson) printJson({ model, total, embedded, pending })
  else print(`${model}: ${embedded} of ${total} ${items} embedded, ${pending} pending.\n`)
}

async function encodeEverything({ model, countItems, encodeAll }: ItemEncoding): Promise<void> {
  const { pending } = await countItems()
  const bar = startProgress(pending, `Embedding with ${model}`)
  let saved = 0
  let refused = 0
  try {
    await encodeAll({
      onSaved(count) {
        saved += count
        bar.advanceTo(saved)
      },
      onFailed(id) {
        refused++
        printError(`The model rejected the text of item ${id}; the item has no embedding.\n`)
      },
    })
  } finally {
    bar.stop(`Embedded ${saved} of ${pending} items`)
  }
  print(`${saved} items embedded with ${model}, ${refused} rejected.\n`)
  if (refused > 0) process.exitCode = 1
}

/** `encoder` and `embeddings`. */
export function addEncoderCommands(program: Command, withApp: WithApp): void {
  const json = ['--json', 'print {model, total, embedded, pending} as JSON'] as const
  const embeddings = program.command('embeddings').description('Manage provider embeddings used by search')
  embeddings
    .command('status')
    .description('Show how many public items have an embedding and how many are pending')
    .option(...json)
    .action((options: { json?: true }) => withApp((app) => printStatus(requireProvider(app), 'public items', options.json), EXISTING))
  embeddings
    .command('rebuild')
    .description(
      'Delete all embeddings and embed every public item again. If interrupted, finished items are kept: continue with --resume, or let the service continue.',
    )
    .option('--resume', 'keep existing embeddings; only embed items without one')
    .action((options: { resume?: true }) =>
      withApp(async (app) => {
        const encoding = requireProvider(app)
        if (!options.resume) await app.store.itemVectors.forgetOtherVectors(null)
        await encodeEverything(encoding)
      }, EXISTING),
    )
  const encoder = program.command('encoder').description('Inspect the encoder used by search')
  encoder
    .command('status')
    .description('Show how many items, private ones included, have a vector of the encoder and how many are pending')
    .option(...json)
    .action((options: { json?: true }) => withApp((app) => printStatus(requireEncoder(app), 'items', options.json), EXISTING))
}

/** Events read at once. */
const PAGE = 500

interface AuditFlags {
  readonly since?: string
  readonly user?: string
  readonly action?: string
  readonly json?: true
}

/** The events that the flags ask for. @throws AppError `invalid_input`, `not_found` */
async function readQuery(store: App['store'], { since, user: username, action }: AuditFlags) {
  if (!sinceInput.optional().safeParse(since).success)
    throw new AppError('invalid_input', `--since must be a day like 2026-01-31 or a time like 2026-01-31T12:00:00Z.`)
  if (action !== undefined && !isAuditAction(action))
    throw new AppError('invalid_input', `--action must be one of: ${Object.keys(AUDIT_ACTIONS).join(', ')}.`)
  const user = username === undefined ? undefined : await store.people.findUser(username)
  if (user === null) throw new AppError('not_found', `User "${username?.slice(0, 80)}" not found.`)
  return { since, action, aboutId: user?.id }
}

/** `audit`: the log with every id, for people with access to the library. */
export function addAuditCommand(program: Command, withApp: WithApp): void {
  program
    .command('audit')
    .description(
      'Print the audit log, newest first: a table on a terminal, one JSON object per line with every id in a pipe. Usernames and categories are current. Titles are shown for public items only.',
    )
    .option('--since <time>', 'only events since this day or time (UTC)')
    .option('--user <name>', 'only events by or about this user')
    .option('--action <name>', 'only this action, such as role_changed')
    .option('--json', 'print JSON lines even on a terminal')
    .action((flags: AuditFlags) =>
      withApp(async ({ store }) => {
        const query = await readQuery(store, flags)
        for (let before: number | undefined; ; ) {
          const events = await store.audit.listEvents(ANONYMOUS, { ...query, before, limit: PAGE })
          const records = events.map((event) => toAuditRecord(event, () => false))
          if (!process.stdout.isTTY || flags.json) for (const record of records) printJson(record)
          else if (before === undefined || records.length > 0) printList('audit', { events: records }, flags)
          before = events.at(-1)?.order
          if (events.length < PAGE) return
        }
      }, EXISTING),
    )
}
