import { parentPort } from 'node:worker_threads'
import { Ajv } from 'ajv'
import { RE2JS } from 're2js'

/** The thread that validates untrusted values against untrusted JSON Schemas. It is terminated when a check takes too long. */

export interface SchemaQuestion {
  readonly value: unknown
  readonly schema: object
}

/** Patterns take linear time. Ajv needs `code` only for standalone code, which is not generated here. */
const regExp = Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), { code: 'undefined' })

parentPort?.on('message', ({ value, schema }: SchemaQuestion) => {
  try {
    const ajv = new Ajv({ strict: false, logger: false, validateFormats: false, code: { regExp } })
    const valid: unknown = ajv.compile(schema)(value)
    // A schema with `$async` gives a promise, which rejects.
    if (valid instanceof Promise) valid.catch(() => {})
    parentPort?.postMessage(typeof valid === 'boolean' ? valid : null)
  } catch {
    parentPort?.postMessage(null)
  }
})
