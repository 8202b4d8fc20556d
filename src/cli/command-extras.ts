import { readFileSync, statSync } from 'node:fs'
import { basename, isAbsolute, relative } from 'node:path'
import { Option } from 'commander'
import { z } from 'zod'
import { fromFileContent, toFileContent } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'
import { MAX_RESULT_BYTES } from '../evals/results/read-results.ts'
import { fileRecord } from '../operations/core/records.ts'
import { writeSkillFolder } from '../transfer/skill-folder.ts'
import { printError } from './print.ts'
import { readOutput } from './print-list.ts'

type Values = Readonly<Record<string, unknown>>

/** Extra options and output of a command. */
export interface CommandExtra {
  readonly options: readonly Option[]
  /** Required inputs that the extra options may give. */
  readonly gives?: readonly string[]
  /** The inputs, with those from the extra options. @throws AppError `invalid_input` */
  toInput?(input: Values, flags: Values): Values
  /** The text for stdout in place of the answer as JSON, or null. @throws AppError */
  present?(output: Values, input: Values, flags: Values): Promise<string | null>
}

/** An option that may be given several times. */
const repeatable = (flags: string, description: string) =>
  new Option(flags, description).argParser<string[]>((written, before = []) => [...before, written])

const fillFlags = z.object({ var: z.array(z.string()).default([]), text: z.boolean().default(false) })
const valuesShape = z.record(z.string(), z.unknown())
const promptShape = z.object({ content: z.string(), variables: z.array(z.object({ name: z.string(), required: z.boolean() })) })

/** `get-prompt`: `--var` sets one variable, `--text` prints only the text. */
export const fillPrompt: CommandExtra = {
  options: [
    repeatable('--var <name=value>', 'value of one variable; repeatable; overrides --variables'),
    new Option('--text', 'print only the text; missing variables are listed on stderr'),
  ],
  toInput(input, flags) {
    const pairs = fillFlags.parse(flags).var.map(readPair)
    const others = valuesShape.safeParse(input['variables'] ?? {})
    // The operation rejects anything but an object.
    if (pairs.length === 0 || !others.success) return input
    return { ...input, variables: { ...others.data, ...Object.fromEntries(pairs) } }
  },
  async present(output, input, flags) {
    const { content, variables } = readOutput(promptShape, output)
    const given = Object.keys(valuesShape.catch({}).parse(input['variables']))
    const names = variables.map(({ name }) => name)
    for (const name of given.filter((one) => !names.includes(one))) {
      printError(`The prompt has no variable "${name}"; it has: ${names.join(', ') || 'none'}.\n`)
    }
    if (!fillFlags.parse(flags).text) return null
    const open = variables.filter(({ name, required }) => required && !given.includes(name)).map(({ name }) => name)
    if (open.length > 0) printError(`Missing values: ${open.join(', ')}. Set them with --var NAME=VALUE.\n`)
    return content.endsWith('\n') ? content : `${content}\n`
  },
}

function readPair(written: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(written) ?? []
  if (name === undefined || value === undefined)
    throw new AppError('invalid_input', `--var must be NAME=VALUE; got "${written.slice(0, 80)}".`)
  return [name.trim(), value]
}

const outFlags = z.object({ out: z.string().optional() })
const skillShape = z.object({ files: z.array(fileRecord) })

/** `get-skill`: `--out` writes the files into a folder. */
export const saveSkillFiles: CommandExtra = {
  options: [new Option('--out <folder>', 'write the files to this folder (new or empty)')],
  async present(output, _input, flags) {
    const { out } = outFlags.parse(flags)
    if (out === undefined) return null
    const files = readOutput(skillShape, output).files.map((file) => fromFileContent(file, ''))
    await writeSkillFolder(out, files)
    return `Wrote ${files.length} ${files.length === 1 ? 'file' : 'files'} to ${out}.\n`
  },
}

const fileFlags = z.object({ file: z.array(z.string()).default([]) })

/** `report-results` and `set-cases`: `--file` reads a file of tests, which keeps its path below this folder for a name. */
export const readTestFiles: CommandExtra = {
  options: [repeatable('--file <path>', 'a file with results, or with cases; repeatable')],
  gives: ['files'],
  toInput(input, flags) {
    const paths = fileFlags.parse(flags).file
    if (paths.length === 0) return input
    return { ...input, files: paths.map((path) => toFileContent({ filename: nameBelow(path), bytes: readBounded(path) })) }
  },
}

function nameBelow(path: string): string {
  const inside = relative('.', path)
  return inside.startsWith('..') || isAbsolute(inside) ? basename(path) : inside.replaceAll('\\', '/')
}

function readBounded(path: string): Uint8Array {
  const about = statSync(path, { throwIfNoEntry: false })
  if (!about?.isFile()) throw new AppError('invalid_input', `${path} is no file.`)
  if (about.size > MAX_RESULT_BYTES) throw new AppError('too_large', `${path} has more than ${MAX_RESULT_BYTES / 2 ** 20} MiB.`)
  return readFileSync(path)
}
