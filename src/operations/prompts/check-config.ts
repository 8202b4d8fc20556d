import { type PromptConfig, schemasIn } from '../../domain/prompts/config.ts'
import { invalidInput } from '../../errors.ts'

/** Most schemas of one config. */
const MAX_SCHEMAS = 128

interface Checker {
  validateSchema(schema: object): unknown
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null | undefined
}

const OPTIONS = { strict: false, logger: false } as const
/** The checkers of drafts 4 to 7 and of 2020-12: each compiles its meta-schema once. */
const checkers: { earlier?: Promise<Checker>; present?: Promise<Checker> } = {}

function checkerFor(dialect: unknown): Promise<Checker> {
  if (typeof dialect === 'string' && /draft-0[4-7]/.test(dialect)) {
    checkers.earlier ??= import('ajv').then(({ Ajv }) => new Ajv(OPTIONS))
    return checkers.earlier
  }
  checkers.present ??= import('ajv/dist/2020.js').then(({ Ajv2020 }) => new Ajv2020(OPTIONS))
  return checkers.present
}

/** Checks that schemas of answers and tools in a config are JSON Schemas. @throws AppError `invalid_input` that names the first which is none */
export async function checkConfig(config: PromptConfig | null | undefined): Promise<void> {
  const schemas = config ? schemasIn(config) : new Map<string, unknown>()
  if (schemas.size > MAX_SCHEMAS) throw invalidInput('config', `config has ${schemas.size} schemas; the limit is ${MAX_SCHEMAS}.`)
  for (const [path, schema] of schemas) {
    const fault = await schemaFault(schema)
    if (fault !== null) throw invalidInput(`config.${path}`, `config.${path} is no JSON Schema: ${fault}.`)
  }
}

async function schemaFault(schema: unknown): Promise<string | null> {
  if (typeof schema === 'boolean') return null
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'it must be an object'
  const { $schema: dialect, ...rest } = schema as Record<string, unknown>
  const checker = await checkerFor(dialect)
  if (checker.validateSchema(rest) === true) return null
  const [error] = checker.errors ?? []
  return error ? `${error.instancePath || 'it'} ${error.message ?? 'is not valid'}` : 'it is not valid'
}
