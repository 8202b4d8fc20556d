// Measures the check: precision on real skills and prompts, recall on attacks that are seeded into clean skills, and what it costs.
//   npm run bench:check [-- --list] [--fixtures FOLDER]

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'
import { checkFiles, promptFile } from '../../src/check/check-files.ts'
import { RULES } from '../../src/check/rules/index.ts'
import type { Finding, Severity } from '../../src/domain/check/findings.ts'
import { SKILL_MD, type SkillFile } from '../../src/domain/skills/skill.ts'
import { readPromptFile } from '../../src/transfer/prompt-file.ts'
import { findTestData } from '../../test/support/real-data.ts'

const attackList = z.array(
  z.object({
    id: z.string(),
    family: z.string(),
    file: z.string(),
    where: z.enum(['append', 'middle', 'frontmatter', 'new', 'description']),
    text: z.string(),
    encoding: z.literal('base64').optional(),
    more: z.array(z.object({ file: z.string(), text: z.string() })).optional(),
  }),
)
type Attack = z.infer<typeof attackList>[number]

const { values } = parseArgs({
  options: { list: { type: 'boolean', default: false }, fixtures: { type: 'string' }, half: { type: 'string' } },
})

interface Named {
  readonly name: string
  readonly files: readonly SkillFile[]
}

function readFolder(folder: string): SkillFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ filename: relative(folder, path), bytes: readFileSync(path) }))
}

function readSkills(folder: string): Named[] {
  const folders = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.name === SKILL_MD)
  return folders
    .map(({ parentPath }) => ({ name: relative(folder, parentPath), files: readFolder(parentPath) }))
    .filter(({ files }) => files.length > 0)
}

/** The skill with an attack in it. */
function seed(clean: Named, attack: Attack): SkillFile[] {
  const files = new Map(clean.files.map((file) => [file.filename, file.bytes]))
  const textOf = (name: string) => Buffer.from(files.get(name) ?? '').toString()
  const put = (name: string, bytes: string | Buffer) => files.set(name, Buffer.from(bytes))
  const before = textOf(attack.file)
  if (attack.where === 'new' || before === '') put(attack.file, attack.encoding ? Buffer.from(attack.text, 'base64') : attack.text)
  else if (attack.where === 'append') put(attack.file, `${before}\n\n${attack.text}\n`)
  else if (attack.where === 'frontmatter')
    put(
      attack.file,
      before.replace(/\n---[ \t]*\n/, () => `\n${attack.text}\n---\n`),
    )
  else if (attack.where === 'description')
    put(
      attack.file,
      before.replace(/^description:[^\n]*\n(?:[ \t]+[^\n]*\n)*/m, () => `description: ${JSON.stringify(attack.text)}\n`),
    )
  else {
    // Between paragraphs in the middle, outside of fences.
    const breaks = [...before.matchAll(/\n\n/g)]
      .map(({ index }) => index)
      .filter((at) => (before.slice(0, at).match(/^\s*(?:```|~~~)/gm)?.length ?? 0) % 2 === 0)
    const at = breaks[Math.floor(breaks.length / 2)] ?? before.length
    put(attack.file, `${before.slice(0, at)}\n\n${attack.text}\n${before.slice(at)}`)
  }
  for (const { file, text } of attack.more ?? []) put(file, text)
  return [...files].map(([filename, bytes]) => ({ filename, bytes }))
}

const keyOf = ({ rule, file, evidence }: Finding) => `${rule} ${file} ${evidence}`
const has = (findings: readonly Finding[], ...severities: Severity[]) => findings.some(({ severity }) => severities.includes(severity))
const say = (line: string) => process.stdout.write(`${line}\n`)
const place = ({ severity, rule, file, line, column, evidence }: Finding) => `${severity} ${rule} ${file}:${line}:${column} ${evidence}`

const data = findTestData()
const skills = readSkills(data.skillsFolder)
const prompts: { readonly title: string; readonly content: string }[] = []
for await (const row of readPromptFile(data.promptsFile)) if ('draft' in row) prompts.push(row.draft)
say(`${RULES.length} rules`)

const start = process.cpuUsage()
const found = skills.map(({ name, files }) => ({ name, findings: checkFiles(files) }))
const spent = process.cpuUsage(start)
const bytes = skills.flatMap(({ files }) => files).reduce((sum, file) => sum + file.bytes.length, 0)
say(
  `skills: ${found.filter(({ findings }) => has(findings, 'high')).length} of ${skills.length} have a high finding, ${found.filter(({ findings }) => has(findings, 'medium')).length} a medium one; ${((spent.user + spent.system) / 1000 / (bytes / 10240)).toFixed(2)} ms of CPU for 10 KB`,
)
if (values.list)
  for (const { name, findings } of found)
    for (const one of findings.filter(({ severity }) => severity !== 'low')) say(`  ${name}: ${place(one)}`)

const texts = prompts.map(({ title, content }) => ({ name: title, findings: checkFiles([promptFile(content)]) }))
say(
  `prompts: ${texts.filter(({ findings }) => has(findings, 'high')).length} of ${texts.length} have a high finding, ${texts.filter(({ findings }) => has(findings, 'medium')).length} a medium one`,
)
if (values.list)
  for (const { name, findings } of texts)
    for (const one of findings.filter(({ severity }) => severity === 'high')) say(`  ${name}: ${place(one)}`)

const attacks = attackList.parse(JSON.parse(gunzipSync(readFileSync(join(import.meta.dirname, 'attacks.json.gz'))).toString()))
// Carriers that are clean and declare nothing that an attack declares again.
const carriers = skills.filter(
  ({ name, files }) =>
    !has(found.find((one) => one.name === name)?.findings ?? [], 'high') &&
    !/^(?:allowed-tools|license|metadata|compatibility)\b/m.test(
      files.find(({ filename }) => filename === SKILL_MD)?.bytes.toString() ?? '',
    ),
)
const tally = new Map<string, { all: number; found: number; high: number }>()
for (const [at, attack] of attacks.entries()) {
  const carrier = carriers[(at * 7) % carriers.length]
  if (!carrier) throw new Error('No clean skill to seed')
  const before = new Set(checkFiles(carrier.files).map(keyOf))
  const fresh = checkFiles(seed(carrier, attack)).filter((finding) => !before.has(keyOf(finding)))
  const row = tally.get(attack.family) ?? { all: 0, found: 0, high: 0 }
  row.all++
  if (has(fresh, 'high', 'medium')) row.found++
  if (has(fresh, 'high')) row.high++
  tally.set(attack.family, row)
  if (values.list && !has(fresh, 'high', 'medium'))
    say(`  missed ${attack.id}: ${JSON.stringify(attack.text.slice(0, 300))} ${fresh.map(place).join('; ')}`)
}
const sum = (key: 'all' | 'found' | 'high') => [...tally.values()].reduce((total, row) => total + row[key], 0)
for (const [family, row] of tally) say(`  ${family.padEnd(26)} ${row.found} of ${row.all}, ${row.high} high`)
say(
  `attacks: ${sum('found')} of ${sum('all')} have a high or medium finding (${((100 * sum('found')) / sum('all')).toFixed(1)} %), ${sum('high')} a high one`,
)
