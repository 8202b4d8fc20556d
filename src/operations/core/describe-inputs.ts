import { z } from 'zod'
import type { Operation } from './define-operation.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

const known = { input: new WeakMap<z.ZodObject, JsonSchema>(), output: new WeakMap<z.ZodObject, JsonSchema>() }

/** The JSON Schema of an input or output, made once for each. Not to be changed. */
export function toJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const made = known[io].get(schema) ?? z.toJSONSchema(schema, { io })
  known[io].set(schema, made)
  return made
}

/** How an input is written where everything is text: in a query, a path, or on a command line. */
export type InputKind = 'text' | 'number' | 'boolean' | 'list' | 'json'

/** One input of an operation, as its JSON Schema describes it. */
export interface InputDescription {
  readonly name: string
  readonly kind: InputKind
  readonly description: string
  readonly choices: readonly string[] | null
  readonly isRequired: boolean
  /** Its limits and default in words, such as "1 to 50, default 10"; empty when it has none. */
  readonly bounds: string
}

const literal = z.union([z.string(), z.number(), z.boolean(), z.null()])

/** The part of JSON Schema that the schemas of operations are made of, as an OpenAPI document has it. */
export const jsonSchema = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  format: z.string().optional(),
  enum: z.array(literal).optional(),
  const: literal.optional(),
  get anyOf(): z.ZodOptional<z.ZodArray<typeof jsonSchema>> {
    return z.array(jsonSchema).optional()
  },
  get items(): z.ZodOptional<typeof jsonSchema> {
    return jsonSchema.optional()
  },
  get properties(): z.ZodOptional<z.ZodRecord<z.ZodString, typeof jsonSchema>> {
    return z.record(z.string(), jsonSchema).optional()
  },
  required: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  maxItems: z.number().optional(),
  default: z.unknown().optional(),
})
export type Schema = z.infer<typeof jsonSchema>

/** The inputs of an operation, in the order they were defined. */
export function describeInputs(operation: Operation): InputDescription[] {
  const { properties, required } = toJsonSchema(operation.input, 'input')
  return Object.entries(properties ?? {}).map(([name, schema]) => {
    const property = jsonSchema.parse(schema)
    return {
      name,
      kind: kindOf(property),
      description: property.description ?? '',
      choices: property.enum?.filter((choice) => choice !== null).map(String) ?? null,
      isRequired: required?.includes(name) ?? false,
      bounds: describeBounds(property),
    }
  })
}

function kindOf({ type, anyOf, items }: Schema): InputKind {
  const types = [type, ...(anyOf ?? []).map((choice) => choice.type)].flat()
  if (types.includes('integer') || types.includes('number')) return 'number'
  if (types.includes('boolean')) return 'boolean'
  if (types.includes('array')) return items?.type === 'string' ? 'list' : 'json'
  return types.includes('object') ? 'json' : 'text'
}

/** The words for limits and defaults, in English. */
export const BOUND_WORDS = {
  from: (least: string) => `from ${least}`,
  range: (least: string, most: string) => `${least} to ${most}`,
  characters: (range: string) => `${range} characters`,
  atMost: (most: string) => `at most ${most}`,
  standard: (value: string) => `default ${value}`,
}

/** The limits and default of a value in words, such as "1 to 50, default 10"; empty when it has none. */
export function describeBounds(schema: Schema, words = BOUND_WORDS): string {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER, minLength = 0, maxLength, maxItems } = schema
  const hasLeast = minimum > Number.MIN_SAFE_INTEGER
  const isBounded = maximum < Number.MAX_SAFE_INTEGER
  return [
    ...(hasLeast && isBounded ? [words.range(String(minimum), String(maximum))] : []),
    ...(hasLeast && !isBounded ? [words.from(String(minimum))] : []),
    ...(!hasLeast && isBounded ? [words.atMost(String(maximum))] : []),
    ...(maxLength === undefined ? [] : [words.characters(words.range(String(minLength), String(maxLength)))]),
    ...(maxItems === undefined ? [] : [words.atMost(String(maxItems))]),
    ...(schema.default === undefined || schema.default === '' ? [] : [words.standard(String(schema.default))]),
  ].join(', ')
}

/** A text as the number or boolean it spells; what spells none stays text, and the schema refuses it by name. */
export function coerceText(text: string, kind: InputKind): unknown {
  if (kind === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}
