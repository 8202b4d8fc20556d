import { type PromptConfig, schemasIn } from '../../domain/prompts/config.ts'
import { invalidInput } from '../../errors.ts'

/** Checks that schemas of answers and tools in a config are JSON Schemas. @throws AppError `invalid_input` that names the first which is none */
export async function checkConfig(config: PromptConfig | null | undefined): Promise<void> {
  for (const [path, schema] of config ? schemasIn(config) : []) {
    const fault = await schemaFault(schema)
    if (fault !== null) throw invalidInput(`config.${path}`, `config.${path} is no JSON Schema: ${fault}.`)
  }
}

async function schemaFault(schema: unknown): Promise<string | null> {
  if (typeof schema === 'boolean') return null
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'it must be an object'
  const { $schema: dialect, ...rest } = schema as Record<string, unknown>
  const isEarlier = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect)
  const options = { strict: false, logger: false, allErrors: false } as const
  const ajv = isEarlier ? new (await import('ajv')).Ajv(options) : new (await import('ajv/dist/2020.js')).Ajv2020(options)
  if (ajv.validateSchema(rest) === true) return null
  const [error] = ajv.errors ?? []
  return error ? `${error.instancePath || 'it'} ${error.message ?? 'is not valid'}` : 'it is not valid'
}
