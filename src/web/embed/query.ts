import { EMBED_FIELDS, type EmbedConfig, embedConfig, isEmbedFlag, tidyEmbedConfig } from '../../library/embed/config.ts'
import { parseTools } from './context.ts'

/** A field that was left out because of what stood in it. */
export interface EmbedFault {
  readonly field: string
  /** Says nothing of what was given. */
  readonly message: string
}

/**
 * Reads a configuration from the parameters of an address, or the fields of a form. An empty one counts as missing, one that is not known
 * is ignored, a bad one is left out and named: nothing is refused.
 */
export function readEmbedQuery(query: URLSearchParams): { config: EmbedConfig; faults: EmbedFault[] } {
  const values: Record<string, unknown> = {}
  const faults: EmbedFault[] = []
  for (const field of EMBED_FIELDS) {
    const [text = '', ...more] = query.getAll(field)
    if (more.length > 0) faults.push({ field, message: `is given ${more.length + 1} times; the first counts` })
    if (text === '') continue
    const value = isEmbedFlag(field) ? toFlag(text) : text.replaceAll(/\r\n?/g, '\n')
    const parsed = embedConfig.shape[field].safeParse(value)
    if (parsed.success) values[field] = parsed.data
    else faults.push({ field, message: toSentence(field, parsed.error.issues[0]) })
  }
  const { badLines } = parseTools(String(values['mcpTools'] ?? ''))
  if (badLines.length > 0) faults.push({ field: 'mcpTools', message: `must be server:tool on each line; ${nameLines(badLines)} not` })
  return { config: tidyEmbedConfig(embedConfig.parse(values)), faults }
}

/** The parameters that {@link readEmbedQuery} reads the configuration from; what says nothing is left out. */
export function writeEmbedQuery(config: EmbedConfig): URLSearchParams {
  return new URLSearchParams(Object.entries(tidyEmbedConfig(config)).map(([field, value]): [string, string] => [field, String(value)]))
}

function toFlag(text: string): boolean | string {
  return text === 'true' ? true : text === 'false' ? false : text
}

function toSentence(
  field: string,
  issue: { readonly code: string; readonly message: string; readonly values?: unknown } | undefined,
): string {
  if (isEmbedFlag(field)) return 'must be true or false'
  if (issue?.code === 'invalid_value' && Array.isArray(issue.values)) return `must be one of: ${issue.values.join(', ')}`
  return issue?.message ?? 'is not valid'
}

/** Lines that are named in a fault. */
const MAX_NAMED_LINES = 10

function nameLines(lines: readonly number[]): string {
  const named = lines.slice(0, MAX_NAMED_LINES).join(', ')
  const rest = lines.length - MAX_NAMED_LINES
  return `${lines.length === 1 ? 'line' : 'lines'} ${named}${rest > 0 ? ` and ${rest} more` : ''} ${lines.length === 1 ? 'is' : 'are'}`
}
