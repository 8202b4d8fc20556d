// Runs the tests against faults that are put into the product one by one, in a copy of HEAD, and fails when one is not found.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { findRelated, type Project, readProjects } from './find-tests.ts'
import { GROUPS, type Mutant, mutate } from './mutant.ts'
import { MUTANTS } from './mutants.ts'
import { runTests } from './run-tests.ts'

const USAGE = `npm run mutants -- [options]
  --level related|npm-test|ci  which tests are run (default: related)
  --only ID                    this mutant alone; may be repeated
  --group NAME                 one of: ${GROUPS.join(', ')}; may be repeated
  --limit SECONDS              for each mutant (default: 300, or as long as whole projects take)
  --again                      forgets earlier results
  --keep                       accepts results of older commits
`
/** Seconds for one mutant, by level. */
const LIMITS = { related: 300, 'npm-test': 1_800, ci: 7_200 }
/** Related files of the first run of vitest; each run after it has twice as many. */
const FIRST_BATCH = 2

const root = fileURLToPath(new URL('../..', import.meta.url))
const result = z.object({
  commit: z.string(),
  /** Doubtful: the catching test fails without the mutant too. Broken: vitest failed, but no test. */
  status: z.enum(['caught', 'missed', 'timed out', 'broken', 'doubtful']),
  project: z.string().optional(),
  file: z.string().optional(),
  test: z.string().optional(),
  fault: z.string().optional(),
  seconds: z.number(),
  /** Whether the catching test was seen to pass without the mutant. */
  isChecked: z.boolean().optional(),
})
type Result = z.infer<typeof result>

const { values: options } = parseArgs({
  options: {
    level: { type: 'string', default: 'related' },
    only: { type: 'string', multiple: true },
    group: { type: 'string', multiple: true },
    limit: { type: 'string' },
    again: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const level = z.enum(['related', 'npm-test', 'ci']).safeParse(options.level).data
const limitMs = Number(options.limit ?? LIMITS[level ?? 'related']) * 1000
const chosen = MUTANTS.filter(({ id, group }) => (options.only?.includes(id) ?? true) && (options.group?.includes(group) ?? true))
if (options.help || !level || !(limitMs > 0) || chosen.length === 0) {
  process.stderr.write(USAGE)
  process.exit(options.help ? 0 : 2)
}

const say = (line: string) => process.stderr.write(`${line}\n`)
const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim()

/** A copy of HEAD, which later calls use again: its build stays. */
function prepareTree(): string {
  const tree = join(tmpdir(), `commonplace-mutants-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`, 'tree')
  if (!existsSync(join(tree, '.git'))) {
    mkdirSync(dirname(tree), { recursive: true })
    git(root, 'clone', '--quiet', '--no-checkout', root, tree)
  }
  git(tree, 'fetch', '--quiet', root, 'HEAD')
  git(tree, 'checkout', '--quiet', '--force', '--detach', 'FETCH_HEAD')
  const link = (from: string, to: string) => {
    if (existsSync(from) && !lstatSync(to, { throwIfNoEntry: false })) symlinkSync(from, to)
  }
  for (const folder of ['', 'tools', 'clients']) link(join(root, folder, 'node_modules'), join(tree, folder, 'node_modules'))
  link(join(root, '..', 'shared'), join(tree, '..', 'shared'))
  return tree
}

const resultsPath = join(root, 'scripts', 'mutants', `results-${level}.json`)
const results = new Map<string, Result>()
if (!options.again && existsSync(resultsPath)) {
  const kept = z.record(z.string(), result).parse(JSON.parse(readFileSync(resultsPath, 'utf8')))
  for (const [id, one] of Object.entries(kept)) results.set(id, one)
}
const note = (id: string, one: Result) => {
  results.set(id, one)
  writeFileSync(resultsPath, `${JSON.stringify(Object.fromEntries(results), null, 2)}\n`)
}

/**
 * The runs of vitest that may find a mutant, each with its project and arguments: the related tests first, then whole projects. The best files
 * of each project come before others of any, and those that need a server of PostgreSQL last.
 */
function* planRuns(tree: string, wanted: readonly Project[], mutant: Mutant): Generator<{ project: string; args: string[] }> {
  const related = findRelated(tree, wanted, mutant)
  for (const usesPostgres of [false, true]) {
    for (let from = 0, size = FIRST_BATCH; related.some(({ files }) => files.length > from); from += size, size *= 2) {
      for (const { project, files } of related) {
        const batch = project.usesPostgres === usesPostgres ? files.slice(from, from + size) : []
        if (batch.length > 0) yield { project: project.name, args: ['--project', project.name, ...batch] }
      }
    }
  }
  if (level === 'related') return
  for (const { name } of wanted) yield { project: name, args: ['--project', name] }
}

async function tryMutant(tree: string, projects: readonly Project[], mutant: Mutant, mutated: string): Promise<Result> {
  const path = join(tree, 'src', mutant.file)
  const original = readFileSync(path, 'utf8')
  const startedAt = performance.now()
  const end = (more: Pick<Result, 'status'> & Partial<Result>): Result => ({
    commit,
    seconds: Math.round((performance.now() - startedAt) / 1000),
    ...more,
  })
  let fault: string | null = null
  try {
    writeFileSync(path, mutated)
    for (const { project, args } of planRuns(tree, projects, mutant)) {
      const outcome = await runTests(tree, ['--bail=1', ...args], startedAt + limitMs)
      const [first] = outcome.failed
      if (first) return end({ status: 'caught', project, file: relative(tree, first.file), test: first.test })
      if (outcome.isOver) return end({ status: 'timed out', project })
      fault ??= outcome.fault
    }
    return end(fault === null ? { status: 'missed' } : { status: 'broken', fault })
  } finally {
    writeFileSync(path, original)
  }
}

/** Runs the catching tests without a mutant: a test that fails anyway has found nothing. */
async function checkCatchers(tree: string): Promise<void> {
  const open = [...results].filter(([, { status, isChecked }]) => status === 'caught' && !isChecked)
  for (const [project, caught] of Map.groupBy(open, ([, one]) => one.project ?? '')) {
    const files = [...new Set(caught.map(([, { file = '' }]) => join(tree, file)))]
    say(`Without a mutant: ${files.length} files of ${project}`)
    const { failed, fault, isOver } = await runTests(tree, ['--project', project, ...files], performance.now() + LIMITS['npm-test'] * 1000)
    for (const [id, one] of caught) {
      const fails = isOver || fault !== null || failed.some(({ file, test }) => relative(tree, file) === one.file && test === one.test)
      note(id, { ...one, isChecked: true, ...(fails ? { status: 'doubtful' as const } : {}) })
    }
  }
}

const commit = git(root, 'rev-parse', 'HEAD')
const tree = prepareTree()
const projects = await readProjects(tree, level === 'npm-test')
const stale: Mutant[] = []
for (const [place, mutant] of chosen.entries()) {
  const path = join(tree, 'src', mutant.file)
  const mutated = existsSync(path) ? mutate(readFileSync(path, 'utf8'), mutant) : null
  if (mutated === null) {
    stale.push(mutant)
    continue
  }
  const known = results.get(mutant.id)
  if (known && (options.keep || known.commit === commit)) continue
  const one = await tryMutant(tree, projects, mutant, mutated)
  note(mutant.id, one)
  say(`${place + 1}/${chosen.length} ${mutant.id}: ${one.status}${one.file ? ` by ${one.file}, ${one.test}` : ''} (${one.seconds} s)`)
}
await checkCatchers(tree)

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const rows = chosen.map(({ id, group, rule }) => {
  const one = stale.some((mutant) => mutant.id === id) ? undefined : results.get(id)
  const by = one?.status === 'caught' ? `${one.file}: ${one.test}` : `**${one?.status ?? 'stale'}** ${one?.fault ?? one?.test ?? ''}`
  return { status: one?.status ?? 'stale', line: `| ${group}: ${id} | ${cell(rule)} | ${cell(by.trim())} | ${one?.seconds ?? ''} |` }
})
const counts = [...Map.groupBy(rows, ({ status }) => status)].map(([status, all]) => `${all.length} ${status}`)
const seconds = chosen.reduce((sum, { id }) => sum + (results.get(id)?.seconds ?? 0), 0)
process.stdout.write(`| Mutant | Rule | Caught by | Seconds |\n|---|---|---|---|\n${rows.map(({ line }) => line).join('\n')}\n\n`)
process.stdout.write(`${chosen.length} mutants: ${counts.join(', ')}; ${seconds} s; level ${level}, commit ${commit.slice(0, 10)}\n`)
for (const { id, file, name } of stale) say(`Stale: ${id}. ${file} has no export ${name} with the search text exactly once.`)
process.exitCode = rows.every(({ status }) => status === 'caught') ? 0 : 1
