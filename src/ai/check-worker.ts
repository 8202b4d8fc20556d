import { parentPort } from 'node:worker_threads'
import { Ajv } from 'ajv'
import { RE2JS } from 're2js'

/** The thread that checks answers by JSON Schemas and regular expressions of others. It is terminated when a check takes too long. */

export type Question =
  | { readonly value: unknown; readonly schema: object }
  | { readonly text: string; readonly pattern: string; readonly flags: string }

/** Patterns take linear time. Ajv needs `code` only for standalone code, which is not generated here. */
const regExp = Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), { code: 'undefined' })

const FLAGS = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL }

/** Whether a text matches a pattern, which looks neither ahead, behind nor back. */
function matches({ text, pattern, flags }: Extract<Question, { pattern: string }>): boolean {
  const bits = Object.entries(FLAGS).reduce((sum, [flag, bit]) => (flags.includes(flag) ? sum | bit : sum), 0)
  return RE2JS.compile(RE2JS.translateRegExp(pattern), bits).test(text)
}

parentPort?.on('message', (question: Question) => {
  try {
    if ('pattern' in question) return parentPort?.postMessage(matches(question))
    const { value, schema } = question
    const ajv = new Ajv({ strict: false, logger: false, validateFormats: false, code: { regExp } })
    const valid: unknown = ajv.compile(schema)(value)
    // A schema with `$async` gives a promise, which rejects.
    if (valid instanceof Promise) valid.catch(() => {})
    parentPort?.postMessage(typeof valid === 'boolean' ? valid : null)
  } catch {
    parentPort?.postMessage(null)
  }
})
