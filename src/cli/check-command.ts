import { statSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { type Command, Option } from 'commander'
import { checkFiles } from '../check/check-files.ts'
import { RULE_SET } from '../check/rules/index.ts'
import { toSarif } from '../check/sarif.ts'
import { LEVELS, type Level, listFindings, type SetReport } from '../check/set/report.ts'
import { type Finding, SEVERITIES } from '../domain/check/findings.ts'
import { parseScope } from '../domain/skills/channel-scope.ts'
import { AppError, toAppError } from '../errors.ts'
import { checkSet } from '../operations/check/check-set.ts'
import { findSkillFolders, readSkillFolder } from '../transfer/skill-folder.ts'
import type { OperationWork, Target } from './operation-commands.ts'
import { createInputReader, formatTable, plural, print, printError, printJson, readOutput } from './terminal.ts'

/** Exit status of a check that could not be made: 1 means findings. */
const FAILED = 2

interface CheckFlags {
  readonly context?: string
  readonly characters?: string
  readonly queries?: string
  readonly level: Level
  readonly json?: true | undefined
  readonly sarif?: true | undefined
  readonly user?: string
  readonly url?: string
}

/** `check`: what agents make of the skills of a scope, for people and for CI. */
export function addCheckCommand(program: Command, run: (options: Target, work: OperationWork) => Promise<void>): void {
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
        if (target !== undefined && isFolder(target)) {
          process.exitCode = (await checkFolder(target, { level, json, sarif })) ? 1 : 0
          return
        }
        if (target !== undefined && !parseScope(target.startsWith('/') ? target : `/${target}`))
          throw new AppError(
            'invalid_input',
            `"${target.slice(0, 200)}" is neither a folder nor a scope such as /@NAME or /collections/REF.`,
          )
        if (sarif) throw new AppError('invalid_input', '--sarif is for a folder: the findings of a set have no lines.')
        const reader = createInputReader(process.stdin)
        const input: Record<string, unknown> = { scope: target }
        for (const [name, text] of Object.entries(written)) {
          input[name] = await reader.read({ name, kind: name === 'queries' ? 'json' : 'number' }, text)
        }
        await run({ user, url }, async (invoke) => {
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

/** Whether an argument of `check` is a folder; a scope begins with a slash, and no folder has its name. */
function isFolder(target: string): boolean {
  return statSync(target, { throwIfNoEntry: false })?.isDirectory() === true
}

/**
 * Checks the skills below a folder, as an import would take them: links, secrets and folders of tools are left out. Offline, without a library.
 * @returns whether there is a finding of the level or above
 * @throws AppError `invalid_input` for a folder without a skill
 */
async function checkFolder(folder: string, { level, json, sarif }: Pick<CheckFlags, 'level' | 'json' | 'sarif'>): Promise<boolean> {
  const remarks: string[] = []
  const skills = await findSkillFolders(folder, (path, reason) => remarks.push(`${relative(folder, path)} ${reason}`))
  if (skills.length === 0) throw new AppError('invalid_input', `${folder} has no skill in it: no folder with a SKILL.md.`)
  const findings: Finding[] = []
  for (const path of skills) {
    const draft = await readSkillFolder(path)
    const place = relative(folder, path)
    remarks.push(...draft.remarks.map((remark) => `${place || basename(path)}: ${remark}`))
    for (const { mark: _, ...finding } of checkFiles(draft.files))
      findings.push({ ...finding, file: place === '' ? finding.file : `${place}/${finding.file}` })
  }
  if (sarif) printJson(toSarif(findings))
  else if (json) printJson({ ruleSet: RULE_SET, skills: skills.length, findings, remarks })
  else {
    const counts = SEVERITIES.map((severity) => `${findings.filter((one) => one.severity === severity).length} ${severity}`).join(', ')
    print(`${plural(skills.length, 'skill')}; ${counts}\n`)
    print(
      formatTable(
        findings.map(({ severity, rule, file, line, column, evidence }) => [severity, rule, `${file}:${line}:${column}`, evidence]),
        null,
      ),
    )
    for (const rule of new Set(findings.map((finding) => finding.rule))) {
      const found = findings.find((finding) => finding.rule === rule)
      if (found) print(`${rule}: ${found.why} ${found.fix}\n`)
    }
    for (const remark of remarks) print(`Not read: ${remark}\n`)
  }
  const failing = SEVERITIES.slice(0, SEVERITIES.indexOf(level) + 1)
  return findings.some(({ severity }) => failing.includes(severity))
}
