import type { Command } from 'commander'
import { backUpLibrary, describeDatabase, restoreLibrary } from '../app.ts'
import { loadConfig } from '../config/load-config.ts'
import { plural } from './plural.ts'
import { formatTable } from './table.ts'

type Report = Awaited<ReturnType<typeof restoreLibrary>>

/** What a restore did and did not do, as lines for people. */
function describeRestore(report: Report): string {
  const { keptAs, hadManifest, knewLater, revokedKeys, removedUsers, returnedUsers, removedParts, removedItems, validKeys } = report
  const lines = hadManifest ? [] : ['The file was made by another tool: only its structure could be checked, not whether it is complete.']
  if (keptAs !== null) lines.push(`The library that stood there is kept as ${keptAs}, with every file of that name.`)
  lines.push('Sessions of browsers and of MCP clients, links for passwords and invites that were out have ended.')
  if (revokedKeys > 0) lines.push(`Revoked ${revokedKeys} ${revokedKeys === 1 ? 'key' : 'keys'}.`)
  if (removedUsers.length > 0) lines.push(`Removed again, because they were removed since the backup: ${removedUsers.join(', ')}.`)
  if (returnedUsers.length > 0) {
    lines.push(`Removed since the backup, but there again as its only administrator: ${returnedUsers.join(', ')}.`)
  }
  if (removedItems.length > 0) {
    lines.push('Deleted again, because these items, or the newest version of them in the backup, were deleted for good after it was made:')
    for (const id of removedItems) lines.push(`  ${id}`)
  }
  if (removedParts > 0)
    lines.push(`Deleted again from the history of items: ${plural(removedParts, 'version or file', 'versions and files')}.`)
  if (!knewLater && validKeys.length > 0) {
    lines.push(
      'What was revoked or removed after the backup is not known here. These keys work again; end them with "keys revoke" or --revoke-keys:',
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
      'Copy the whole library to one file, beside a service that is running. The file is checked, holds what it says, and appears whole or not at all. It is a library file whatever the engine, and readable by you alone.',
    )
    .argument('<file>', 'where the backup is written')
    .option('--force', 'replace a file of that name')
    .option('--json', 'print {file, format, schema, createdAt, tables: {name: {rows, sha256}}, sha256} as JSON')
    .action(async (file: string, options: { force?: true; json?: true }) => {
      process.umask(0o077)
      const manifest = await backUpLibrary(loadConfig().DATABASE_URL, file, { replaces: options.force === true })
      if (options.json) process.stdout.write(`${JSON.stringify({ file, ...manifest })}\n`)
      else {
        const count = (table: string) => manifest.tables[table]?.rows ?? 0
        const held = [plural(count('version'), 'version'), plural(count('user'), 'user')]
        process.stdout.write(`Wrote ${file}: ${plural(count('item'), 'item')} with ${held.join(', ')}.\n`)
      }
    })
  program
    .command('restore-backup')
    .description(
      'Put a backup in the place of the library. Stop the service first: a library that is in use is refused. The file is checked before anything is changed, and the library that stood there is kept beside it. Keys and users that were removed since are removed again where that library can be read. On PostgreSQL, DATABASE_URL names an empty database.',
    )
    .argument('<file>', 'the backup')
    .option('--revoke-keys', 'end all API keys')
    .option('--force', 'replace a library that cannot be read, of which nobody can tell whether it is in use')
    .option(
      '--json',
      'print {keptAs, hadManifest, knewLater, revokedKeys, removedUsers, returnedUsers, removedParts, removedItems, validKeys} as JSON',
    )
    .action(async (file: string, options: { revokeKeys?: true; force?: true; json?: true }) => {
      process.umask(0o077)
      const { DATABASE_URL } = loadConfig()
      const report = await restoreLibrary(file, DATABASE_URL, {
        revokesKeys: options.revokeKeys === true,
        replacesUnreadable: options.force === true,
      })
      if (options.json) process.stdout.write(`${JSON.stringify(report)}\n`)
      else process.stdout.write(`Restored ${describeDatabase(DATABASE_URL)} from ${file}.\n${describeRestore(report)}`)
    })
}
