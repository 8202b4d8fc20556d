import { globSync } from 'node:fs'
import type { Operation } from '../../src/operations/core/define-operation.ts'
import type { Procedure } from '../../src/operations/core/procedure.ts'

const folder = new URL('../../src/operations/', import.meta.url)

const isProcedure = (value: unknown): value is Procedure & Partial<Operation> =>
  typeof value === 'object' && value !== null && 'call' in value && 'scope' in value
const toName = (exported: string) => exported.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const files = globSync('**/*.ts', { cwd: folder, exclude: ['**/*.test.ts'] })
const modules: object[] = await Promise.all(files.map((file) => import(new URL(file, folder).href)))
const named = modules.flatMap((module) =>
  Object.entries(module).flatMap(([exported, value]) => (isProcedure(value) ? [[value.name ?? toName(exported), value] as const] : [])),
)

/** Every procedure of src/operations by name: operations, and the others by the name of their export in snake_case. */
export const PROCEDURES: ReadonlyMap<string, Procedure & Partial<Operation>> = new Map(named)
if (PROCEDURES.size !== named.length) throw new Error('Two procedures have one name.')
