import { expect } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { parseVariables } from '../../src/domain/variables/variables.ts'
import { improveWithoutModel } from '../../src/improve/fallback/improve-without-model.ts'
import { OUTPUT_FORMATS, OUTPUT_TYPES, type OutputFormat, type OutputType } from '../../src/improve/improve-with-model.ts'

/** What must hold of every prompt that is improved without a model. */

/** The text of an improved prompt. */
export const improve = (
  prompt: string,
  outputType: OutputType = 'text',
  outputFormat: OutputFormat = 'text',
  inspirations: readonly { title: string; content: string }[] = [],
) => improveWithoutModel({ prompt, outputType, outputFormat, inspirations })

/** Every output type in every format. */
export const EVERY_WAY = OUTPUT_TYPES.flatMap((outputType) => OUTPUT_FORMATS.map((outputFormat) => ({ outputType, outputFormat })))

/** The variables of a text with their defaults, by name. */
function variablesOf(text: string): (readonly [string, string | undefined])[] {
  return parseVariables(text)
    .variables.map((variable) => [variable.name, variable.default] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

const namesOf = (text: string) => variablesOf(text).map(([name]) => name)

/** A result as the value its format holds. Throws when it is not valid in its format. */
function readResult(result: string, outputFormat: OutputFormat): unknown {
  return outputFormat === 'structured_json' ? JSON.parse(result) : parseYaml(result)
}

/** What a prompt holds when it is JSON or YAML itself. */
function readOwn(prompt: string): unknown[] {
  return [JSON.parse, (text: string): unknown => parseYaml(text, { logLevel: 'error' })].flatMap((parse) => {
    try {
      return [parse(prompt)]
    } catch {
      return []
    }
  })
}

/** A text in every format. */
export const AS_TEXT = EVERY_WAY.filter(({ outputType }) => outputType === 'text')

/** Everything that must hold of every prompt, in every type and format or in some. */
export function expectSound(prompt: string, inspirations: readonly { title: string; content: string }[] = [], ways = EVERY_WAY): void {
  for (const { outputType, outputFormat } of ways) {
    const way = `${outputType} as ${outputFormat}`
    const result = improve(prompt, outputType, outputFormat, inspirations)
    if (outputFormat === 'text') {
      expect(result.includes(prompt), `${way} holds ${JSON.stringify(prompt)}`).toBe(true)
      expect(variablesOf(result), way).toEqual(variablesOf(prompt))
    } else {
      const value = readResult(result, outputFormat)
      expect(value, way).toBeTypeOf('object')
      expect(Object.keys(Object(value)).length, way).toBeGreaterThan(0)
      if (Object(value).task !== prompt) expect(readOwn(prompt), way).toContainEqual(value)
      expect(namesOf(result), way).toEqual(namesOf(prompt))
    }
    expect(improve(prompt, outputType, outputFormat, inspirations), way).toBe(result)
    expect(improve(result, outputType, outputFormat, inspirations), `${way}, a second time`).toBe(result)
    // JSON writes a control character as six.
    expect(result.length, way).toBeLessThanOrEqual((outputFormat === 'text' ? 1 : 6) * prompt.length + 1000)
  }
}

/** Expects of each prompt what {@link expectSound} does, as a text in every format, with two others as its inspirations. */
export function expectAllSound(contents: readonly string[]): void {
  const prompts = contents.map((content) => content.slice(0, 10_000)).filter((prompt) => prompt.isWellFormed())
  expect(prompts.length).toBeGreaterThan(50)
  for (const [index, prompt] of prompts.entries()) {
    const inspirations = [prompts[(index * 7 + 3) % prompts.length], prompts[(index * 13 + 5) % prompts.length]]
    expectSound(
      prompt,
      inspirations.map((content = '') => ({ title: 'near', content })),
      AS_TEXT,
    )
  }
}
