// Fails on tests that depend on the machine's speed. Only test/long may; elsewhere a line needs a "real time:" comment with its reason.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** What waits or measures, each with what to do instead. */
const FORBIDDEN: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  { pattern: /\bsetTimeout\(/, instead: 'await an event or vi.waitUntil' },
  { pattern: /\bsetTimeout as\b/, instead: 'await an event or vi.waitUntil' },
  { pattern: /\bperformance\.now\(|\bhrtime\b|\bcpuUsage\(|\bthreadCpuUsage\(/, instead: 'measure in bench/' },
  { pattern: /\bPromise\.(?:race|any)\(/, instead: 'await each answer, or the state that follows' },
  { pattern: /\btimeout: [\d_]{1,6}\b(?!_)(?<!timeout: 1\d{5}|timeout: \d{3}_\d{3})/, instead: 'leave the limit to the test' },
  { pattern: /^\s*\}, [\d_]{4,}\)/, instead: 'leave the limit to the test' },
  { pattern: /\.listen\((?!0\b|\{)\d/, instead: 'listen on port 0' },
]
/** Most lines with a reason: each is a debt. */
const MAX_REASONS = 20

const files = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.test\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name))),
)
const faults: string[] = []
let reasons = 0
for (const file of files) {
  if (file.startsWith('test/long/')) continue
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  for (const [index, line] of lines.entries()) {
    const found = FORBIDDEN.find(({ pattern }) => pattern.test(line))
    if (!found) continue
    if (/\/\/ real time: \S/.test(line) || /\/\/ real time: \S/.test(lines[index - 1] ?? '')) reasons++
    else faults.push(`${file}:${index + 1}: ${line.trim()}: ${found.instead}.`)
  }
}
if (files.length === 0) faults.push('No test was read.')
if (reasons > MAX_REASONS) faults.push(`${reasons} lines use real time with a reason, more than ${MAX_REASONS}.`)
process.stdout.write(`${files.length} test files, ${reasons} lines that use real time with a reason.\n`)
for (const fault of faults) process.stderr.write(`${fault}\n`)
if (faults.length > 0) process.exitCode = 1
