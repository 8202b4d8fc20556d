import { labelVariable } from '../domain/variables/variable-label.ts'
import type { FILLING_WORDS } from './strings/reading.ts'

/** A blank as the page of its prompt shows it. */
export interface Blank {
  readonly name: string
  /** The name as people read it. */
  readonly label: string
  /** Taken while nothing is typed; absent when the blank is required. */
  readonly preset?: string
}

/** The data of a prompt for the script of its page, beside the text. */
export interface Filling {
  readonly id: string
  readonly blanks: readonly Blank[]
  readonly words: typeof FILLING_WORDS
}

/** The blanks of a prompt, in the order of their first occurrence. */
export function toBlanks(variables: readonly { readonly name: string; readonly default?: string | undefined }[]): Blank[] {
  return variables.map((variable) => ({
    name: variable.name,
    label: labelVariable(variable.name),
    ...(variable.default === undefined ? {} : { preset: variable.default }),
  }))
}
