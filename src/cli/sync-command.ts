import { watch } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { App } from '../app.ts'
import { AppError, toAppError } from '../errors.ts'
import { isBareRepository, isGitAddress } from '../transfer/sync/git.ts'
import { syncRepository, syncWorkTree } from '../transfer/sync/sync-repository.ts'
import type { SyncReport } from '../transfer/sync/sync-run.ts'
import { EXISTING, requireAccount, type WithApp } from './people-commands.ts'
import { plural } from './plural.ts'
import { print, printError } from './print.ts'

/** After a change of the folder, how long further ones are waited for. */
const DEBOUNCE_MS = 300
/** How often `--watch` asks whether the library changed. */
const LIBRARY_POLL_MS = 2_000
/** How often it fetches a remote repository, and reads a folder that cannot be watched. */
const FOLDER_POLL_MS = 60_000

interface SyncFlags {
  readonly user: string
  readonly watch?: true
  readonly dryRun?: true
  readonly delete?: true
  readonly cache?: string
}

/** @param before the report that was printed last, whose remarks are not repeated */
function printReport(report: SyncReport, before: SyncReport | null, isDryRun: boolean): void {
  for (const change of report.changes) print(`${change}\n`)
  const told = new Set(before?.remarks)
  for (const remark of report.remarks) if (!told.has(remark)) printError(`${remark}\n`)
  const { created, updated, written, conflicts, deleted, left, refused } = report
  const counts = `Library: ${created} created, ${updated} updated. Folder: ${written} written.`
  const rest = `${plural(conflicts, 'conflict')}, ${deleted} deleted, ${left} left, ${refused} refused.`
  print(`${isDryRun ? 'Dry run, nothing changed. ' : ''}${counts} ${rest}\n`)
}

/** Notes changes of a folder. `null`: there is none to watch. */
function watchFolder(folder: string | null): { isChanged: boolean } {
  const seen = { isChanged: false }
  if (folder === null) return seen
  try {
    const watcher = watch(folder, { recursive: true }, () => {
      seen.isChanged = true
    })
    // Too many folders to watch: the next poll finds the change.
    watcher.on('error', () => {})
  } catch {
    // As above.
  }
  return seen
}

/** Waits until the folder or the library changed since `revision`, or it is time to read the folder again. */
async function waitForChange(app: App, seen: { readonly isChanged: boolean }, revision: number): Promise<void> {
  const until = Date.now() + FOLDER_POLL_MS
  for (let polledAt = Date.now(); Date.now() < until && !seen.isChanged; ) {
    await sleep(DEBOUNCE_MS)
    if (Date.now() < polledAt + LIBRARY_POLL_MS) continue
    polledAt = Date.now()
    if ((await app.store.service.readRevision('library')) !== revision) return
  }
  await sleep(DEBOUNCE_MS)
}

/** Where clones are kept. Asked for when one is needed: a user without an account on the machine has no home folder. */
function defaultCache(): string {
  try {
    return join(homedir(), '.cache', 'commonplace', 'sync')
  } catch (error) {
    throw new AppError('invalid_input', 'This user has no home folder. Say with --cache where clones are kept.', { cause: error })
  }
}

function onBusy(): void {
  printError('Another sync of this Git address is running. Waiting until it ends.\n')
}

/** `sync`. */
export function addSyncCommand(program: Command, withApp: WithApp): void {
  program
    .command('sync <target>')
    .description(
      'Sync the prompts and skills of a user with a folder or a Git repository (https, ssh or a local path), in both directions. Where both sides changed, both are kept.',
    )
    .requiredOption('--user <name>', 'whose items are synced')
    .option('--watch', 'keep syncing when the folder or the library changes')
    .option('--delete', 'carry deletions over, to the trash in the library (default: report them)')
    .option('--dry-run', 'say what would be done, and change nothing')
    .option('--cache <folder>', 'where clones of Git repositories are kept (default: ~/.cache/commonplace/sync)')
    .action(async (given: string, flags: SyncFlags) => {
      const isUrl = isGitAddress(given)
      const isAddress = isUrl || (await isBareRepository(given))
      const target = isAddress && !isUrl ? await realpath(given) : given
      await withApp(async (app) => {
        const isDryRun = flags.dryRun === true
        let printed: SyncReport | null = null
        const runOnce = async (isFirst: boolean) => {
          const user = await requireAccount(app, flags.user)
          const options = { deletes: flags.delete === true, isDryRun, now: app.clock() }
          const report = isAddress
            ? await syncRepository(app.store, user, target, flags.cache ?? defaultCache(), { ...options, ...(flags.watch && { onBusy }) })
            : await syncWorkTree(app.store, user, target, options)
          if (isFirst || report.changes.length > 0) {
            printReport(report, printed, isDryRun)
            printed = report
          }
          return report
        }
        if (!flags.watch) {
          if ((await runOnce(true)).refused > 0) process.exitCode = 1
          return
        }
        const seen = watchFolder(isAddress ? null : target)
        for (let isFirst = true; ; isFirst = false) {
          seen.isChanged = false
          let revision = -1
          try {
            // Read before the sync, so that what changes meanwhile is found by the next one.
            revision = await app.store.service.readRevision('library')
            await runOnce(isFirst)
          } catch (error) {
            if (isFirst) throw error
            // The network, a disk or the database may come back.
            printError(`${toAppError(error).message}\n`)
          }
          // Without a database the next sync fails too, and says so.
          await waitForChange(app, seen, revision).catch(() => sleep(LIBRARY_POLL_MS))
        }
      }, EXISTING)
    })
}
