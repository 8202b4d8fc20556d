import { Argument, type Command, Option } from 'commander'
import { z } from 'zod'
import { showControls } from '../domain/text/controls.ts'
import { AppError } from '../errors.ts'
import type { Operation } from '../operations/core/define-operation.ts'
import { describeInputs } from '../operations/core/describe-inputs.ts'
import type { Invoke } from '../operations/core/invoke.ts'
import { type CommandExtra, fillPrompt, readTestFiles, saveSkillFiles } from './command-extras.ts'
import { isList, JSON_OPTION, printList, readOutput, type Screen } from './print-list.ts'
import { createInputReader } from './read-input.ts'
import { showText } from './show-text.ts'

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
