import { type Command, Option } from 'commander'
import { LEVELS, type Level, listFindings, type SetReport } from '../check/set/report.ts'
import { AppError, toAppError } from '../errors.ts'
import { checkSet } from '../operations/check/check-set.ts'
import { checkFolder, isFolder } from './check-folder.ts'
import type { OperationWork } from './operation-commands.ts'
import { plural, print, printError, printJson } from './print.ts'
import { formatTable, readOutput } from './print-list.ts'
import { createInputReader } from './read-input.ts'

/** Exit status of a check that could not be made: 1 means findings. */
const FAILED = 2

interface CheckFlags {
  readonly context?: string
  readonly characters?: string
  readonly queries?: string
  readonly level: Level
  readonly json?: true
  readonly sarif?: true
  readonly user?: string
  readonly url?: string
}

/** `check`: what agents make of the skills of a scope, for people and for CI. */
export function addCheckCommand(
  program: Command,
  run: (options: { user?: string; url?: string }, work: OperationWork) => Promise<void>,
): void {
  program
    .command('check [target]')
    .description(
      'Check the skills in a folder, before they are imported; or those of the library together: /@NAME, /collections/REF, /tags/NAME, /categories/NAME, or all. Exits with 1 for findings of --level or above, 2 for errors.',
    )
    .option('--context <n>', "the agent's context in tokens (default: 200000)")
    .option('--characters <n>', 'a budget of your own for the listing, which then counts alone')
    .option('--queries <json>', 'queries to route, with query, skill and shouldTrigger; @FILE reads them from a file')
    .addOption(new Option('--level <level>', 'least level of findings that fail the check').choices(LEVELS).default('medium'))
    .option('--json', 'print the answer as JSON')
    .option('--sarif', 'print the findings in a folder as SARIF 2.1.0')
    .option('--user <name>', 'act as this user on the local library (default: the owner of PROMPTS_API_KEY, or anonymous)')
    .option('--url <address>', 'use another Commonplace server, with PROMPTS_API_KEY')
    .action(async (target: string | undefined, { level, json, sarif, user, url, ...written }: CheckFlags) => {
      try {
        if (isFolder(target)) {
          process.exitCode = (await checkFolder(target, { level, json, sarif })) ? 1 : 0
          return
        }
        if (sarif) throw new AppError('invalid_input', '--sarif is for a folder: the findings of a set have no lines.')
        const reader = createInputReader(process.stdin)
        const input: Record<string, unknown> = { scope: target }
        for (const [name, text] of Object.entries(written)) {
          input[name] = await reader.read({ name, kind: name === 'queries' ? 'json' : 'number' }, text)
        }
        await run({ ...(user !== undefined && { user }), ...(url !== undefined && { url }) }, async (invoke) => {
          const ask = async () => readOutput(checkSet.output, await invoke('check_set', input, {}))
          let report = await ask()
          // A call encodes for some seconds; the next one goes on from there.
          for (let before = Number.POSITIVE_INFINITY; report.pending && report.pending < before; report = await ask())
            before = report.pending
          if (json) printJson(report)
          else print(formatReport(report))
          const isFound = LEVELS.slice(0, LEVELS.indexOf(level) + 1).some((one) => report.counts[one] > 0)
          process.exitCode = isFound ? 1 : 0
        })
      } catch (error) {
        printError(`${toAppError(error).message}\n`)
        process.exitCode = FAILED
      }
    })
}

function formatReport(report: SetReport): string {
  const { skills, isCut, pending, counts, routing } = report
  const rows = [
    ...report.budgets.map(({ profile, unit, limit, cost, shortened, dropped, omitted, level }) => {
      const left = shortened > 0 ? `; ${shortened} cut` : ''
      const lost = [
        ...(dropped.length > 0 ? ['without description', namesOf(dropped)] : []),
        ...(omitted.length > 0 ? ['not listed', namesOf(omitted)] : []),
      ]
      return [level ?? 'ok', 'listing', `${profile}: ${cost} of ${limit} ${unit}${left}`, lost.join(': ')]
    }),
    ...listFindings(report).map(({ level, rule, skills: of, evidence }) => [level, rule, namesOf(of), evidence.join(', ')]),
    ...report.unlisted.map(({ title, fault }) => ['', 'unlisted', title, fault]),
  ]
  const summary = [
    plural(skills, 'skill'),
    LEVELS.map((level) => `${counts[level]} ${level}`).join(', '),
    ...(routing ? [`${routing.hits} of ${plural(routing.queries, 'query', 'queries')} routed`] : []),
    ...(isCut ? ['only the first were checked'] : []),
    ...(pending === 0 ? [] : ['not all were compared']),
  ]
  return `${summary.join('; ')}\n${formatTable(rows, null)}`
}

function namesOf(skills: readonly { readonly name: string }[]): string {
  return skills.map(({ name }) => name).join(', ')
}
