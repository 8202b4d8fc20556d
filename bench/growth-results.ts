import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** Where the figures of all runs are kept; each run replaces what it measured again. */
const FILE = fileURLToPath(new URL('results/growth.json', import.meta.url))

export const ENGINES = ['sqlite', 'postgresql'] as const
export type Engine = (typeof ENGINES)[number]

/** The figures of a library of one size, by name: units are in the names, and processor time is of the service or the command. */
export type Figures = Readonly<Record<string, number>>

const resultsShape = z.record(z.enum(ENGINES), z.record(z.string(), z.record(z.string(), z.number())))

export function readGrowth(): z.infer<typeof resultsShape> {
  return existsSync(FILE) ? resultsShape.parse(JSON.parse(readFileSync(FILE, 'utf8'))) : { sqlite: {}, postgresql: {} }
}

/** Adds figures of a size to the file. */
export function keepGrowth(engine: Engine, size: number, figures: Figures): void {
  const results = readGrowth()
  const rounded = Object.entries(figures).map(([name, value]) => [name, Number(value.toPrecision(4))] as const)
  results[engine][size] = { ...results[engine][size], ...Object.fromEntries(rounded) }
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`)
}
