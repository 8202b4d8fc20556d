import type { Command } from 'commander'
import { backUpLibrary, describeDatabase, restoreLibrary } from '../app.ts'
import { loadConfig } from '../config/load-config.ts'
import { plural, print, printJson } from './print.ts'
import { formatTable } from './table.ts'

type Report = Awaited<ReturnType<typeof restoreLibrary>>

/** The result of a restore, as lines of text. */
function describeRestore(report: Report): string {
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
