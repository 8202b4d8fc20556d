import { MAX_VARIABLES, parseVariables } from '../../library/variables.ts'
import type { Blank } from './task-kind.ts'

/** Most blanks one result adds; a prompt with so many variables that they would pass the limit gets plain text instead. */
const MAX_ADDED = 12

/** Which names of variables a result may still use. */
export interface FreeNames {
  readonly taken: ReadonlySet<string>
  readonly isFull: boolean
}

/** The names a prompt leaves free: a second `${audience:…}` would change what the writer's own `${audience}` means. */
export function readFreeNames(prompt: string): FreeNames {
  const taken = new Set(parseVariables(prompt).variables.map((variable) => variable.name))
  return { taken, isFull: taken.size > MAX_VARIABLES - MAX_ADDED }
}

/** A blank as `Label: ${name:value}`, or with the bare value where the name is not free. */
export function writeBlank(blank: Blank, names: FreeNames): string {
  return `${blank.label}: ${writeVariable(blank.name, blank.value, names)}`
}

/** A variable with a default, or the bare default where the name is not free. */
export function writeVariable(name: string, value: string, names: FreeNames): string {
  return names.isFull || names.taken.has(name) ? value : `\${${name}:${value}}`
}

/** A text of the tables with those of its variables that are not free replaced by their defaults. */
export function keepFreeVariables(text: string, names: FreeNames): string {
  return parseVariables(text)
    .segments.map((segment) => {
      if (segment.kind === 'text') return segment.raw
      const value = parseVariables(segment.raw).variables[0]?.default ?? ''
      return writeVariable(segment.name, value, names)
    })
    .join('')
}
