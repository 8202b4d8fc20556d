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

const typeName = z.union([z.string(), z.array(z.string())])
const propertySchema = z.looseObject({
  type: typeName.optional(),
  description: z.string().default(''),
  enum: z.array(z.string().nullable()).optional(),
  anyOf: z.array(z.looseObject({ type: typeName.optional() })).optional(),
  items: z.looseObject({ type: typeName.optional() }).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  maxItems: z.number().optional(),
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
})

/** The inputs of an operation, in the order they were defined. */
export function describeInputs(operation: Operation): InputDescription[] {
  const { properties, required } = toJsonSchema(operation.input, 'input')
  return Object.entries(properties ?? {}).map(([name, schema]) => {
    const property = propertySchema.parse(schema)
    return {
      name,
      kind: kindOf(property),
      description: property.description,
      choices: property.enum ? property.enum.filter((choice) => choice !== null) : null,
      isRequired: required?.includes(name) ?? false,
      bounds: boundsOf(property),
    }
  })
}

function kindOf({ type, anyOf, items }: z.infer<typeof propertySchema>): InputKind {
  const types = [type, ...(anyOf ?? []).map((choice) => choice.type)].flat()
  if (types.includes('integer') || types.includes('number')) return 'number'
  if (types.includes('boolean')) return 'boolean'
  if (types.includes('array')) return items?.type === 'string' ? 'list' : 'json'
  return types.includes('object') ? 'json' : 'text'
}

function boundsOf({ minimum, maximum, minLength, maxLength, maxItems, default: fallback }: z.infer<typeof propertySchema>): string {
  const top = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined
  return [
    ...(minimum !== undefined ? [top === undefined ? `from ${minimum}` : `${minimum} to ${top}`] : []),
    ...(maxLength !== undefined ? [`${minLength ?? 0} to ${maxLength} characters`] : []),
    ...(maxItems !== undefined ? [`at most ${maxItems}`] : []),
    ...(fallback !== undefined && fallback !== '' ? [`default ${fallback}`] : []),
  ].join(', ')
}

/** A text as the number or boolean it spells; what spells none stays text, and the schema refuses it by name. */
export function coerceText(text: string, kind: InputKind): unknown {
  if (kind === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}
