import { EMBED_FIELDS, type EmbedConfig, embedConfig, isEmbedFlag, tidyEmbedConfig } from '../../domain/embed/config.ts'
import type { Words } from '../site.ts'
import { ENGLISH } from '../strings/index.ts'
import { parseTools } from './context.ts'

/** A field that was left out because of what stood in it. */
export interface EmbedFault {
  readonly field: string
  /** Says nothing of what was given. */
  readonly message: string
}

/**
 * Reads a configuration from query parameters or form fields. Empty fields count as missing, unknown
 * ones are ignored, and invalid ones are left out and reported as faults.
 * @param words of the faults. Default: English, as embeds are
 */
export function readEmbedQuery(
  query: URLSearchParams,
  { errors }: Pick<Words, 'errors'> = ENGLISH,
): { config: EmbedConfig; faults: EmbedFault[] } {
  const values: Record<string, unknown> = {}
  const faults: EmbedFault[] = []
  for (const field of EMBED_FIELDS) {
    const [text = '', ...more] = query.getAll(field)
    if (more.length > 0) faults.push({ field, message: errors.repeated(more.length + 1) })
    if (text === '') continue
    const value = isEmbedFlag(field) ? toFlag(text) : text.replaceAll(/\r\n?/g, '\n')
    const parsed = embedConfig.shape[field].safeParse(value)
    if (parsed.success) values[field] = parsed.data
    else faults.push({ field, message: toSentence(errors, field, parsed.error.issues[0]) })
  }
  const { badLines } = parseTools(String(values['mcpTools'] ?? ''))
  if (badLines.length > 0)
    faults.push({
      field: 'mcpTools',
      message: errors.notTool(nameLines(badLines), Math.max(0, badLines.length - MAX_NAMED_LINES), badLines.length),
    })
  return { config: tidyEmbedConfig(embedConfig.parse(values)), faults }
}

/** The parameters that {@link readEmbedQuery} reads the configuration from; defaults are left out. */
export function writeEmbedQuery(config: EmbedConfig): URLSearchParams {
  return new URLSearchParams(Object.entries(tidyEmbedConfig(config)).map(([field, value]): [string, string] => [field, String(value)]))
}

function toFlag(text: string): boolean | string {
  return text === 'true' ? true : text === 'false' ? false : text
}

function toSentence(
  errors: Words['errors'],
  field: string,
  issue: { readonly code: string; readonly message: string; readonly values?: unknown } | undefined,
): string {
  if (isEmbedFlag(field)) return errors.notBoolean
  if (issue?.code === 'invalid_value' && Array.isArray(issue.values)) return errors.notOneOf(issue.values.join(', '))
  return issue?.message ?? errors.notValid
}

/** Lines that are named in a fault. */
const MAX_NAMED_LINES = 10

function nameLines(lines: readonly number[]): string {
  return lines.slice(0, MAX_NAMED_LINES).join(', ')
}
