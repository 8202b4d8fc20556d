/** The parts of the product that mutants are spread over. */
export const GROUPS = ['visibility', 'keys', 'versions', 'search', 'mcp', 'imports', 'forms', 'storage'] as const
type Group = (typeof GROUPS)[number]

/** A fault that somebody could make in the product, which a test must find. */
export interface Mutant {
  readonly id: string
  readonly group: Group
  /** Path below `src`. */
  readonly file: string
  /** The exported function or constant with the change. */
  readonly name: string
  /** Occurs once in the declaration of `name`. */
  readonly search: string
  readonly replace: string
  /** The rule that the change breaks, as one sentence. */
  readonly rule: string
  /** Words of tests about the rule, beside `name`. */
  readonly words?: readonly string[]
  /** Whether only tests on PostgreSQL can fail: no others are run as related ones. Default: false */
  readonly isOnPostgres?: boolean
}

/**
 * A module with a mutant in it.
 * @returns null for a stale mutant: the export is gone, or does not have the search text exactly once
 */
export function mutate(source: string, { name, search, replace }: Mutant): string | null {
  const start = source.search(new RegExp(`^export (?:default )?(?:async )?(?:function\\*? ?|const |class )${name}\\b`, 'm'))
  if (start === -1) return null
  // A declaration ends before the next line that begins another one: its own lines are indented, or close a bracket.
  const body = source.indexOf('\n', start) + 1
  const length = source.slice(body).search(/^[^\s)\]}]/m)
  const end = length === -1 ? source.length : body + length
  const [before, after, ...more] = source.slice(start, end).split(search)
  if (before === undefined || after === undefined || more.length > 0) return null
  return source.slice(0, start) + before + replace + after + source.slice(end)
}
