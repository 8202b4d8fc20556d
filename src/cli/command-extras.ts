import type { Option } from 'commander'

type Values = Readonly<Record<string, unknown>>

/** Extra options and output of a command. */
export interface CommandExtra {
  readonly options: readonly Option[]
  /** The inputs, with those from the extra options. @throws AppError `invalid_input` */
  toInput?(input: Values, flags: Values): Values
  /** What to write to stdout in place of the answer as JSON, or null. @throws AppError */
  present?(output: Values, input: Values, flags: Values): Promise<string | null>
}
