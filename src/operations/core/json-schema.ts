import { z } from 'zod'

type JsonSchema = z.core.JSONSchema.BaseSchema

const known = { input: new WeakMap<z.ZodObject, JsonSchema>(), output: new WeakMap<z.ZodObject, JsonSchema>() }

/** The JSON Schema of an input or output, made once for each. Not to be changed. */
export function toJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const made = known[io].get(schema) ?? z.toJSONSchema(schema, { io })
  known[io].set(schema, made)
  return made
}
