import type { Command } from 'commander'
import { examineBackup, examineLibrary } from '../app.ts'
import { loadConfig } from '../config/load-config.ts'
import { AppError } from '../errors.ts'

type Finding = Awaited<ReturnType<typeof examineLibrary>>[number]

/** Exit status when something is not as it must be. */
const FAULTS_FOUND = 1

/** A line for a check, and one for each fault that is named. */
function toLines({ check, state, count, faults, isRepairable }: Finding): string {
  const remedy = isRepairable ? '  (doctor --repair mends it)' : ''
  const line = state === 'fault' ? `${check}: ${count}${remedy}` : check
  const more = count > faults.length ? [`          and ${count - faults.length} more`] : []
  return [`${state.padEnd(8)}  ${line}`, ...faults.map((fault) => `          ${fault}`), ...more].join('\n')
}

/** `doctor`. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'Look whether the library, or a backup, is sound: its structure, files against their digests, versions, votes, addresses and the words of search. Prints a line for each check, and ends with status 1 when one finds a fault. Works beside a service that is running.',
    )
    .argument('[backup]', 'a backup to look at in place of the library')
    .option('--repair', 'make again what can be: counts of votes, words, unused files, vectors')
    .option('--vacuum', 'give back the room that removed rows left in the file (SQLite)')
    .option('--json', 'print [{check, state, count, faults, isRepairable}] as JSON')
    .action(async (backup: string | undefined, options: { repair?: true; vacuum?: true; json?: true }) => {
      if (backup !== undefined && (options.repair || options.vacuum)) {
        throw new AppError('invalid_input', '--repair and --vacuum are for the library; a backup is only read.')
      }
      const findings =
        backup === undefined
          ? await examineLibrary(loadConfig().DATABASE_URL, { repairs: options.repair === true, compacts: options.vacuum === true })
          : await examineBackup(backup)
      process.stdout.write(options.json ? `${JSON.stringify(findings)}\n` : `${findings.map(toLines).join('\n')}\n`)
      if (findings.some(({ state }) => state === 'fault')) process.exitCode = FAULTS_FOUND
    })
}
