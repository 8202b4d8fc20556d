import { readFileSync, statSync } from 'node:fs'
import { basename, isAbsolute, relative } from 'node:path'
import { Argument, type Command, Option } from 'commander'
import { z } from 'zod'
import { fromFileContent, toFileContent } from '../domain/skills/skill.ts'
import { showControls } from '../domain/text/characters.ts'
import { AppError } from '../errors.ts'
import { MAX_RESULT_BYTES } from '../evals/results/read-results.ts'
import type { OnText } from '../improve/improve-with-model.ts'
import type { Invoke, Operation } from '../operations/core/define-operation.ts'
import { describeInputs } from '../operations/core/describe-inputs.ts'
import { fileRecord } from '../operations/core/records.ts'
import { writeSkillFolder } from '../transfer/skill-folder.ts'
import { createInputReader, isList, JSON_OPTION, printError, printList, readOutput, type Screen } from './terminal.ts'

type Values = Readonly<Record<string, unknown>>

/** Extra options and output of a command. */
interface CommandExtra {
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
const fillPrompt: CommandExtra = {
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
const saveSkillFiles: CommandExtra = {
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
const readTestFiles: CommandExtra = {
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

/**
 * Streams a text to the terminal: stdout if it is one, else stderr if it is one.
 * @param isResultText whether the result is that text; false when it is printed as JSON, and the text is shown on stderr alone
 */
export function showText(stdout: Screen, stderr: Screen, isResultText: boolean) {
  const screen = isResultText && stdout.isTTY ? stdout : stderr.isTTY ? stderr : null
  let shown = ''
  const endLine = () => {
    if (shown !== '') screen?.write('\n')
  }
  return {
    /** Ends the line where the text broke off. */
    breakOff: endLine,
    async onText(part: Parameters<OnText>[0]): Promise<void> {
      if (!screen) return
      if (part.kind === 'restart') {
        screen.write('\n\n(Unusable answer; asking the model again.)\n\n')
        shown = ''
      } else {
        screen.write(showControls(part.text))
        shown += part.text
      }
    },
    /** Prints the result exactly once on stdout. */
    finish(result: string): void {
      endLine()
      if (screen !== stdout) {
        stdout.write(`${result}\n`)
        return
      }
      // What was watched may differ from the result: a code fence is taken off, for one.
      if (shown.trim() !== result.trim()) stdout.write(`${shown === '' ? '' : '\nResult:\n\n'}${showControls(result)}\n`)
    },
  }
}

const PLACEHOLDERS = { text: '<text>', number: '<n>', boolean: '[true|false]', list: '<a,b,…>', json: '<json>' } as const

function toFlag(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Inputs that take all remaining words, so that quotes are optional. */
const WORDS = new Set(['query', 'prompt'])

/** Heading of what is about people and keys. */
export const ACCOUNTS_GROUP = 'Accounts and keys:'
/** Headings of the help, by the commands below each; those that are used most come first in `OPERATIONS`. */
const GROUPS: readonly (readonly [string, RegExp])[] = [
  ['Find and use:', /^(search|improve|get-prompt|get-skill|list-(prompts|skills|related|categories|tags))/],
  ['Save and change:', /^(save|update-(prompt|skill)|add-file|remove-file|delete$|restore|list-trash)|version|label|gate/],
  ['Check:', /^check|waive/],
  ['Tests:', /^((list|get|set|convert)-cases|report-results|run-tests|try-prompt|(list|get|compare|remove|cancel)-runs?$)/],
  ['Votes and favourites:', /vote|favourite/],
  ['Collections:', /collection/],
  ['Install links:', /install-link/],
  ['Teams and transfers:', /team|transfer/],
  [ACCOUNTS_GROUP, /^whoami$/],
]

/** Extra options of some commands. */
const EXTRAS: Partial<Record<string, CommandExtra>> = {
  get_prompt: fillPrompt,
  get_skill: saveSkillFiles,
  report_results: readTestFiles,
  set_cases: readTestFiles,
}

const improved = z.object({ improved: z.string() })

function toJson(output: Record<string, unknown>): string {
  return JSON.stringify(output, null, 2)
}

/** An error that names operations and inputs as commands and options are named: the messages of operations name them as tools do. */
function nameCommands(error: unknown, commands: ReadonlyMap<string, string>, flags: ReadonlyMap<string, string>): unknown {
  if (!(error instanceof AppError)) return error
  const refused = new Set(error.details.map(({ path }) => path))
  const message = error.message
    .replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => commands.get(name) ?? name)
    .replaceAll(/(?<![\w"-])[a-z]\w*/g, (name) => (refused.delete(name) ? (flags.get(name) ?? name) : name))
  return new AppError(error.code, message, { cause: error.cause })
}

/** The library that a command is run on, and who runs it. */
export interface Target {
  readonly user?: string | undefined
  readonly url?: string | undefined
}

/** A command's work; `onPrinted` gets what it wrote to stdout. */
export type OperationWork = (invoke: Invoke, onPrinted: (text: string) => void) => Promise<void>

/** Adds a command for every operation that has one; flags are made from its input schema. */
export function addOperationCommands(
  program: Command,
  operations: readonly Operation[],
  run: (options: Target, work: OperationWork) => Promise<void>,
  screen: Screen = process.stdout,
): void {
  const commands = new Map(operations.flatMap(({ name, surfaces }) => (surfaces.cli ? [[name, surfaces.cli.command]] : [])))
  for (const operation of operations) {
    const surface = operation.surfaces.cli
    if (!surface) continue
    const inputs = describeInputs(operation)
    const positional = surface.positional.flatMap((name) => inputs.find((input) => input.name === name) ?? [])
    const flags = inputs.filter((input) => !positional.includes(input))
    const command = program.command(surface.command).summary(operation.title).description(operation.summary)
    command.helpGroup(GROUPS.find(([, pattern]) => pattern.test(surface.command))?.[0] ?? '')
    for (const input of positional) {
      const words = WORDS.has(input.name) ? `${input.name}...` : input.name
      const argument = new Argument(input.isRequired ? `<${words}>` : `[${words}]`, input.description)
      if (input.choices) argument.choices(input.choices)
      command.addArgument(argument)
    }
    const extra = EXTRAS[operation.name]
    for (const input of flags) {
      const option = new Option(`--${toFlag(input.name)} ${PLACEHOLDERS[input.kind]}`, input.description)
      if (input.choices) option.choices(input.choices)
      if (input.isRequired && !extra?.gives?.includes(input.name)) option.makeOptionMandatory()
      command.addOption(option)
    }
    command.option('--user <name>', 'act as this user on the local library (default: the owner of PROMPTS_API_KEY, or anonymous)')
    command.option('--url <address>', 'use another Commonplace server, with PROMPTS_API_KEY')
    for (const option of extra?.options ?? []) command.addOption(option)
    if (isList(operation.name)) command.option(...JSON_OPTION)
    else if (operation.isStreamed) command.option('--json', 'print the result as JSON')
    const named = new Map(
      flags.map(({ name }) => [name, (extra?.gives?.includes(name) && extra.options[0]?.long) || `--${toFlag(name)}`] as const),
    )
    command.action(async () => {
      const options: Record<string, string | boolean> = command.opts()
      const reader = createInputReader(process.stdin)
      const given: Record<string, unknown> = {}
      for (const [index, input] of positional.entries()) {
        const words = WORDS.has(input.name) ? command.args.slice(index) : command.args.slice(index, index + 1)
        if (input.isRequired || words.length > 0) given[input.name] = await reader.read(input, words.join(' '))
      }
      for (const input of flags) {
        const written = options[input.name]
        if (written !== undefined) given[input.name] = await reader.read(input, written)
      }
      const values = extra?.toInput ? extra.toInput(given, options) : given
      const target = z.object({ user: z.string().optional(), url: z.string().optional() }).parse(options)
      await run(target, async (invoke, onPrinted) => {
        const isJson = options['json'] === true
        const display = operation.isStreamed ? showText(screen, process.stderr, !isJson) : undefined
        const output = await invoke(operation.name, values, { onText: display?.onText }).catch((error: unknown) => {
          display?.breakOff()
          throw nameCommands(error, commands, named)
        })
        if (display) return display.finish(isJson ? toJson(output) : readOutput(improved, output).improved)
        if (isList(operation.name)) return onPrinted(printList(operation.name, output, { json: isJson }, screen))
        const text = (await extra?.present?.(output, values, options)) ?? `${toJson(output)}\n`
        screen.write(screen.isTTY ? showControls(text) : text)
        onPrinted(text)
      })
    })
  }
}
