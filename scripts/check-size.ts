// Counts lines by module and fails when one is past its budget. A budget is raised only in a commit that says why.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Lines, words of documents or files, by module. */
const budgets: Readonly<Record<string, number>> = JSON.parse(readFileSync(new URL('size-budgets.json', import.meta.url), 'utf8'))

const isTest = (file: string) => /\.test\.tsx?$/.test(file)
const isCode = (file: string) => /\.tsx?$/.test(file)
const countLines = (text: string) => text.split('\n').length - 1
const countWords = (text: string) => text.split(/\s+/).filter((word) => word !== '').length

/** Which modules a file counts for, and how it is counted. */
function modulesOf(file: string): readonly (readonly [module: string, count: (text: string) => number])[] {
  if (file.startsWith('src/') && isCode(file) && !isTest(file)) {
    const [, room = ''] = file.split('/')
    return [
      [`src/${room.includes('.') ? '*.ts' : room}`, countLines],
      ['src', countLines],
      ['files of src', () => 1],
    ]
  }
  if (isCode(file) && (isTest(file) || file.startsWith('test/'))) return [['tests', countLines]]
  if (file.startsWith('test/fixtures/schemas/')) return [['schema fixtures', countLines]]
  if (/^(bench|scripts|packaging)\//.test(file))
    return isCode(file) || file.endsWith('.sh') ? [['bench, scripts, packaging', countLines]] : []
  if (/^docs\/decisions\/.*\.md$/.test(file)) {
    return [
      ['words of documents', countWords],
      ['decisions', () => 1],
    ]
  }
  // The starter library is content that the service serves.
  return file.endsWith('.md') && !file.startsWith('starter/') ? [['words of documents', countWords]] : []
}

const counts = new Map<string, number>()
// Untracked files too, so that a file counts before it is committed.
const listing = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' })
for (const file of listing.split('\0').filter((name) => name !== '' && existsSync(`${root}/${name}`))) {
  const modules = modulesOf(file)
  if (modules.length === 0) continue
  const text = readFileSync(`${root}/${file}`, 'utf8')
  for (const [module, count] of modules) counts.set(module, (counts.get(module) ?? 0) + count(text))
}

const faults: string[] = []
for (const [module, count] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
  const budget = budgets[module]
  process.stdout.write(`${module.padEnd(28)}${String(count).padStart(8)} of ${budget ?? 'nothing'}\n`)
  if (budget === undefined) faults.push(`${module} has no budget in scripts/size-budgets.json.`)
  else if (count > budget) faults.push(`${module} has ${count}, which is ${count - budget} past its budget.`)
}
for (const module of Object.keys(budgets)) if (!counts.has(module)) faults.push(`${module} has a budget but no file.`)
for (const fault of faults) process.stderr.write(`${fault}\n`)
if (faults.length > 0) process.exitCode = 1
