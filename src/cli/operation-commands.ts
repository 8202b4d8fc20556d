import { readFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { AppError, invalidInput } from '../errors.ts'
import type { Operation } from '../operations/define-operation.ts'
import { coerceText, describeInputs, type InputDescription } from '../operations/describe-inputs.ts'
import type { Invoke } from '../operations/invoke.ts'
import { showText } from './show-text.ts'

/** Inputs that may come from a file: `@path`. */
const FILE_MARK = '@'

const PLACEHOLDERS = { text: '<text>', number: '<n>', boolean: '[true|false]', list: '<a,b,…>', json: '<json>' } as const

function toFlag(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

async function readValue({ name, kind }: InputDescription, written: string | boolean): Promise<unknown> {
  if (typeof written === 'boolean') return written
  if (kind === 'number' || kind === 'boolean') return coerceText(written, kind)
  if (kind === 'list') return written.split(',').map((part) => part.trim())
  const text = written.startsWith(FILE_MARK) ? await readNamedFile(name, written.slice(FILE_MARK.length)) : written
  if (kind === 'text') return text
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    throw invalidInput(name, `${name} must be JSON.`)
  }
}

async function readNamedFile(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new AppError('invalid_input', `${name}: the file ${path} cannot be read.`, { cause: error })
  }
}

/** How a result is shown: JSON, or for people where a command has its own way. */
const PRINTERS: Partial<Record<string, (output: Record<string, unknown>) => string>> = {
  search_prompts: (output) => printFound(output['prompts']),
  search_skills: (output) => printFound(output['skills']),
  improve_prompt: (output) => readOutput(improved, output).improved,
}

/** Another server may answer anything. @throws AppError `upstream_failed` when it is not what a Commonplace answers */
function readOutput<T>(schema: z.ZodType<T>, output: unknown): T {
  const read = schema.safeParse(output)
  if (!read.success) throw new AppError('upstream_failed', 'The answer is not one a Commonplace gives; use --json to see it.')
  return read.data
}

const improved = z.object({ improved: z.string() })

const found = z.array(z.object({ slug: z.string(), title: z.string(), description: z.string().nullable() }))

function printFound(items: unknown): string {
  const rows = readOutput(found, items)
  if (rows.length === 0) return 'Nothing found.'
  return rows.map((row) => `${row.slug}\n    ${row.title}${row.description ? `\n    ${row.description}` : ''}`).join('\n')
}

/** A command's work; `onPrinted` gets what it wrote to stdout. */
export type OperationWork = (invoke: Invoke, onPrinted: (text: string) => void) => Promise<void>

/** Adds a command for every operation that has one; flags are made from its input schema. */
export function addOperationCommands(
  program: Command,
  operations: readonly Operation[],
  run: (options: { user?: string; url?: string }, work: OperationWork) => Promise<void>,
): void {
  for (const operation of operations) {
    const surface = operation.surfaces.cli
    if (!surface) continue
    const inputs = describeInputs(operation)
    const positional = surface.positional.flatMap((name) => inputs.find((input) => input.name === name) ?? [])
    const flags = inputs.filter((input) => !positional.includes(input))
    const command = program.command(surface.command).summary(operation.title).description(operation.summary)
    for (const input of positional) command.argument(`<${input.name}>`, input.description)
    for (const input of flags) {
      const option = new Option(`--${toFlag(input.name)} ${PLACEHOLDERS[input.kind]}`, input.description)
      if (input.choices) option.choices(input.choices)
      if (input.isRequired) option.makeOptionMandatory()
      command.addOption(option)
    }
    command.option('--user <name>', 'act as this user on the local library (default: nobody, or the owner of PROMPTS_API_KEY)')
    command.option('--url <address>', 'act on another Commonplace instead, with PROMPTS_API_KEY')
    if (PRINTERS[operation.name]) command.option('--json', 'print the result as JSON')
    command.action(async () => {
      const options: Record<string, string | boolean> = command.opts()
      const values: Record<string, unknown> = {}
      for (const [index, input] of positional.entries()) values[input.name] = await readValue(input, command.args[index] ?? '')
      for (const input of flags) {
        const written = options[input.name]
        if (written !== undefined) values[input.name] = await readValue(input, written)
      }
      const { user, url } = z.object({ user: z.string().optional(), url: z.string().optional() }).parse(options)
      await run({ ...(user === undefined ? {} : { user }), ...(url === undefined ? {} : { url }) }, async (invoke, onPrinted) => {
        const print = options['json'] === true ? undefined : PRINTERS[operation.name]
        const display = operation.isStreamed ? showText(process.stdout, process.stderr, print !== undefined) : undefined
        const output = await invoke(operation.name, values, { onText: display?.onText }).catch((error: unknown) => {
          display?.breakOff()
          throw error
        })
        const text = print ? print(output) : JSON.stringify(output, null, 2)
        if (display) display.finish(text)
        else process.stdout.write(`${text}\n`)
        onPrinted(text)
      })
    })
  }
}
