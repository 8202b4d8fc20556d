import type { Command } from 'commander'
import { syncFolder } from '../transfer/sync/sync-folder.ts'
import type { SyncReport } from '../transfer/sync/sync-run.ts'
import { EXISTING, requireAccount, type WithApp } from './people-commands.ts'
import { plural, print, printError } from './print.ts'

interface SyncFlags {
  readonly user: string
  readonly dryRun?: true
  readonly delete?: true
}

function printReport(report: SyncReport, isDryRun: boolean): void {
  for (const change of report.changes) print(`${change}\n`)
  for (const remark of report.remarks) printError(`${remark}\n`)
  const { created, updated, written, conflicts, deleted, left, refused } = report
  const counts = `Library: ${created} created, ${updated} updated. Folder: ${written} written.`
  const rest = `${plural(conflicts, 'conflict')}, ${deleted} deleted, ${left} left, ${refused} refused.`
  print(`${isDryRun ? 'Dry run, nothing changed. ' : ''}${counts} ${rest}\n`)
}

/** `sync`. */
export function addSyncCommand(program: Command, withApp: WithApp): void {
  program
    .command('sync <folder>')
    .description('Sync the prompts and skills of a user with a folder, in both directions. Where both sides changed, both are kept.')
    .requiredOption('--user <name>', 'whose items are synced')
    .option('--delete', 'carry deletions over, to the trash in the library (default: report them)')
    .option('--dry-run', 'say what would be done, and change nothing')
    .action((folder: string, flags: SyncFlags) =>
      withApp(async (app) => {
        const user = await requireAccount(app, flags.user)
        const isDryRun = flags.dryRun === true
        const report = await syncFolder(app.store, user, folder, { deletes: flags.delete === true, isDryRun, now: app.clock() })
        printReport(report, isDryRun)
        if (report.refused > 0) process.exitCode = 1
      }, EXISTING),
    )
}
