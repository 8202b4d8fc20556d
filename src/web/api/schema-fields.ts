import { z } from 'zod'
import type { API_WORDS } from '../strings/documents.ts'

type Words = typeof API_WORDS

/** One field of a JSON Schema, as the API reference shows it. */
export type SchemaField = ReturnType<typeof describeField>

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

/** The fields of an object, each followed by those in it. A list of objects counts as its objects. */
export function listFields(schema: Schema, words: Words, prefix = ''): SchemaField[] {
  const { items, properties = {}, required = [] } = schema
  if (items) return listFields(items, words, `${prefix}[]`)
  const inside = prefix === '' ? '' : `${prefix}.`
  return [
    ...Object.entries(properties).flatMap(([name, property]) => [
      describeField(inside + name, property, required.includes(name), words),
      ...listFields(property, words, inside + name),
    ]),
    ...(schema.anyOf ?? []).flatMap((choice) => listFields(choice, words, prefix)),
  ]
}

/** One field, without those in it. */
export function describeField(name: string, schema: Schema, isRequired: boolean, words: Words) {
  const choices = listChoices(schema)
  return {
    /** With the fields it stands in, such as `prompts[].id`. */
    name,
    /** Such as "integer" or "list of string"; empty where choices say it. */
    kind: choices.length > 0 ? '' : nameKind(schema, words),
    choices,
    isRequired,
    description: schema.description ?? '',
    /** Its limits and default in words, such as "1 to 50, default 10"; empty when it has none. */
    bounds: describeBounds(schema, words),
  }
}

function listChoices({ enum: choices, const: only, anyOf = [] }: Schema): string[] {
  const own = [...(choices ?? []), ...(only === undefined ? [] : [only])].map(String)
  if (own.length > 0) return own
  const isClosed = anyOf.length > 0 && anyOf.every((choice) => choice.type === 'null' || listChoices(choice).length > 0)
  return isClosed ? anyOf.flatMap((choice) => (choice.type === 'null' ? ['null'] : listChoices(choice))) : []
}

function nameKind({ type, format, items, anyOf = [] }: Schema, words: Words): string {
  if (items) return words.listOf(nameKind(items, words))
  if (type === undefined) return [...new Set(anyOf.map((choice) => nameKind(choice, words)))].join(` ${words.or} `)
  return [type].flat().join(` ${words.or} `) + (format === undefined ? '' : ` (${format})`)
}

function describeBounds(schema: Schema, words: Words): string {
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
