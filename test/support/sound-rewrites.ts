import { expect } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { improveOffline } from '../../src/improve/fallback/improve-offline.ts'
import { OUTPUT_FORMATS, OUTPUT_TYPES, type OutputFormat, type OutputType } from '../../src/improve/output.ts'
import { parseVariables } from '../../src/library/variables.ts'

/** What must hold of every prompt that is improved without a model. */

/** The text of an improved prompt. */
export const improve = (
  prompt: string,
  outputType: OutputType = 'text',
  outputFormat: OutputFormat = 'text',
  inspirations: readonly { title: string; content: string }[] = [],
) => improveOffline({ prompt, outputType, outputFormat, inspirations })

/** Every output type in every format. */
export const EVERY_WAY = OUTPUT_TYPES.flatMap((outputType) => OUTPUT_FORMATS.map((outputFormat) => ({ outputType, outputFormat })))

/** A result as the text a reader of its format gets. Throws when it is not valid in its format. */
function readResult(result: string, outputFormat: OutputFormat): string {
  if (outputFormat === 'text') return result
  // The failsafe schema leaves `0.0` a text, as it was written.
  const value: unknown = outputFormat === 'structured_json' ? JSON.parse(result) : parseYaml(result, { schema: 'failsafe' })
  return flatten(value)
}

function flatten(value: unknown): string {
  if (Array.isArray(value)) return value.map(flatten).join('\n')
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, inner]) => `${key} ${flatten(inner)}`)
      .join('\n')
  }
  return String(value)
}

/** Letters and digits only: what is left of a sentence when bullets, spaces and light punctuation do not count. */
const squash = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, '')

/** The sentences of a prompt that a result does not have; the number of a list item is no sentence. Split by a simpler rule than the rewriter's own. */
function findLost(prompt: string, result: string): string[] {
  const kept = squash(result)
  return prompt
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^\s*(?:\d{1,3}[.)]|[-*•])\s+/, ''))
    .flatMap((line) => line.split(/(?<=[.!?。！？])\s/))
    .filter((sentence) => !/^\d{1,3}[.)]?$/.test(sentence.trim()) && !kept.includes(squash(sentence)))
}

/** The variables of a text, with their defaults. */
export function variablesOf(text: string): Map<string, string | undefined> {
  return new Map(parseVariables(text).variables.map((variable) => [variable.name, variable.default]))
}

/** The variables of a prompt that a result lacks, or has with another default. */
export function findLostVariables(prompt: string, result: string): string[] {
  const kept = variablesOf(result)
  return [...variablesOf(prompt)].filter(([name, value]) => !kept.has(name) || kept.get(name) !== value).map(([name]) => name)
}

/** Everything that must hold of every prompt, in every type and format. */
export function expectSound(prompt: string, inspirations: readonly { title: string; content: string }[] = []): void {
  for (const { outputType, outputFormat } of EVERY_WAY) {
    const way = `${outputType} as ${outputFormat}`
    const result = improve(prompt, outputType, outputFormat, inspirations)
    const read = readResult(result, outputFormat)
    const source = prompt.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
    expect(findLost(source, read), way).toEqual([])
    expect(findLostVariables(source.trim(), read), way).toEqual([])
    expect(improve(prompt, outputType, outputFormat, inspirations), way).toBe(result)
    expect(improve(result, outputType, outputFormat, inspirations), `${way}, a second time`).toBe(result)
    // JSON writes a control character as six.
    expect(result.length, way).toBeLessThanOrEqual((outputFormat === 'text' ? 1 : 6) * prompt.length + 4000)
  }
}

/** Whether a prompt is an object: those keep their members, and their punctuation is not that of sentences. */
export const isJson = (prompt: string) => prompt.trimStart().startsWith('{')

/** Expects of each prompt what {@link expectSound} does, with two others as its inspirations. */
export function expectAllSound(contents: readonly string[], every = 1): void {
  const prompts = contents.map((content) => content.slice(0, 10_000)).filter((prompt) => prompt.isWellFormed() && !isJson(prompt))
  expect(prompts.length).toBeGreaterThan(50)
  for (const [index, prompt] of prompts.entries()) {
    if (index % every !== 0) continue
    const inspirations = [prompts[(index * 7 + 3) % prompts.length], prompts[(index * 13 + 5) % prompts.length]]
    expectSound(
      prompt,
      inspirations.map((content = '') => ({ title: 'near', content })),
    )
  }
}
