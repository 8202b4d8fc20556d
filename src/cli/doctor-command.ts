import type { Command } from 'commander'
import { examineBackup, examineLibrary } from '../app.ts'
import { loadConfig } from '../config/load-config.ts'
import { listRemovedSettings } from '../config/removed-settings.ts'
import { AppError } from '../errors.ts'
import { print, printJson } from './print.ts'

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
