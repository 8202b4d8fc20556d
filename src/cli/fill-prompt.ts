import { Option } from 'commander'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import type { CommandExtra } from './command-extras.ts'
import { readOutput } from './print-list.ts'

const flagsShape = z.object({ var: z.array(z.string()).default([]), text: z.boolean().default(false) })
const valuesShape = z.record(z.string(), z.unknown())
const promptShape = z.object({ content: z.string(), variables: z.array(z.object({ name: z.string(), required: z.boolean() })) })

/** `get-prompt`: `--var` gives the value of one blank, `--text` prints nothing but the text. */
export const fillPrompt: CommandExtra = {
  options: [
    new Option('--var <name=value>', 'value of one blank; can be repeated, and wins over --variables').argParser<string[]>(
      (written, before = []) => [...before, written],
    ),
    new Option('--text', 'print the text alone; what is not filled in is named on stderr'),
  ],
  toInput(input, flags) {
    const pairs = flagsShape.parse(flags).var.map(readPair)
    const others = valuesShape.safeParse(input['variables'] ?? {})
    // The operation refuses what is no object of values.
    if (pairs.length === 0 || !others.success) return input
    return { ...input, variables: { ...others.data, ...Object.fromEntries(pairs) } }
  },
  async present(output, input, flags) {
    const { content, variables } = readOutput(promptShape, output)
    const given = Object.keys(valuesShape.catch({}).parse(input['variables']))
    const names = variables.map(({ name }) => name)
    for (const name of given.filter((one) => !names.includes(one))) {
      process.stderr.write(`The prompt has no blank "${name}"; it has: ${names.join(', ') || 'none'}.\n`)
    }
    if (!flagsShape.parse(flags).text) return null
    const open = variables.filter(({ name, required }) => required && !given.includes(name)).map(({ name }) => name)
    if (open.length > 0) process.stderr.write(`Not filled in: ${open.join(', ')}. Give values with --var NAME=VALUE.\n`)
    return content.endsWith('\n') ? content : `${content}\n`
  },
}

function readPair(written: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(written) ?? []
  if (name === undefined || value === undefined)
    throw new AppError('invalid_input', `--var must be NAME=VALUE; it is "${written.slice(0, 80)}".`)
  return [name.trim(), value]
}
