import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { Mutant } from './mutant.ts'

/** A project of vitest.config.ts, and its test files as absolute paths. */
export interface Project {
  readonly name: string
  readonly usesPostgres: boolean
  readonly files: readonly string[]
}

/** Related test files run at most, of each project. */
const MAX_FILES = 12
/** Imports between a test file and the changed module: more would relate every test to every module. */
const MAX_HOPS = 2

/** Characters that mean something in a regular expression. */
const SPECIAL = /[$()*+.?[\\\]^{|}]/g

const listed = z.array(z.object({ file: z.string(), projectName: z.string() }))
const packageFile = z.object({ scripts: z.object({ test: z.string() }) })
const config = z.object({ test: z.object({ projects: z.array(z.looseObject({ test: z.looseObject({ name: z.string() }) })) }) })

/**
 * The projects of a tree in the order of its configuration, which begins with the cheapest.
 * @param isNpmTest whether only those that `npm test` runs are wanted, as package.json names them
 */
export async function readProjects(tree: string, isNpmTest: boolean): Promise<Project[]> {
  const output = execFileSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'list', '--filesOnly', '--json'], { cwd: tree })
  const files = Map.groupBy(listed.parse(JSON.parse(output.toString())), ({ projectName }) => projectName)
  const { default: read } = await import(pathToFileURL(join(tree, 'vitest.config.ts')).href)
  const projects = config.parse(read).test.projects.map((project) => ({
    name: project.test.name,
    usesPostgres: JSON.stringify(project).includes('postgres'),
    files: (files.get(project.test.name) ?? []).map(({ file }) => file),
  }))
  if (!isNpmTest) return projects
  const { scripts } = packageFile.parse(JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8')))
  return [...scripts.test.matchAll(/--project[= ](\S+)/g)].map(([, name]) => {
    const project = projects.find((one) => one.name === name)
    if (!project) throw new Error(`npm test runs the project ${name}, which vitest.config.ts does not have`)
    return project
  })
}

/** How many imports lead from each file to a module, as far as there are few. */
function measureHops(tree: string, module: string): ReadonlyMap<string, number> {
  const importers = new Map<string, string[]>()
  for (const name of globSync(['src/**/*.{ts,tsx}', 'test/**/*.ts'], { cwd: tree })) {
    const file = join(tree, name)
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^'\n]+)'/g)) {
      const target = resolve(dirname(file), specifier)
      if (existsSync(target)) importers.set(target, [...(importers.get(target) ?? []), file])
    }
  }
  const hops = new Map([[module, 0]])
  for (const [file, hop] of hops) {
    if (hop < MAX_HOPS) for (const importer of importers.get(file) ?? []) if (!hops.has(importer)) hops.set(importer, hop + 1)
  }
  return hops
}

/**
 * The test files of a project that import the changed module, or name the export or a word of the rule. Direct imports come first, then files
 * that name most of the words, and most often.
 */
export function findRelated(tree: string, projects: readonly Project[], mutant: Mutant): { project: Project; files: string[] }[] {
  const hops = measureHops(tree, join(tree, 'src', mutant.file))
  const words = [mutant.name, ...(mutant.words ?? [])].map(
    (word) => new RegExp(`(?<![\\w-])${word.replaceAll(SPECIAL, '\\$&')}(?![\\w-])`, 'g'),
  )
  const score = (file: string) => {
    const text = readFileSync(file, 'utf8')
    const counts = words.map((word) => text.match(word)?.length ?? 0)
    return { file, hop: hops.get(file) ?? MAX_HOPS + 1, named: counts.filter((count) => count > 0).length, times: Math.max(...counts) }
  }
  const able = projects.filter(({ usesPostgres }) => usesPostgres || !mutant.isOnPostgres)
  return able.map((project) => ({
    project,
    files: project.files
      .map(score)
      .filter(({ hop, named }) => hop <= MAX_HOPS || named > 0)
      .toSorted((a, b) => Number(b.hop === 1) - Number(a.hop === 1) || b.named - a.named || b.times - a.times || a.hop - b.hop)
      .slice(0, MAX_FILES)
      .map(({ file }) => file),
  }))
}
