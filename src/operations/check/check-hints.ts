import { SEVERITIES } from '../../domain/check/finding.ts'
import type { Item } from '../../domain/items/items.ts'
import type { Needs } from '../core/procedure.ts'

/** Findings that an answer names. */
const MAX_NAMED = 5

/** Sentences about an item for whoever just saved it: the worst findings of the check, and whether others see it. */
export async function checkHints({ store, onFault }: Needs<'checks'>, item: Item): Promise<string[]> {
  try {
    // Most items have none.
    if (item.blockedVersion === null && !(await store.checks.hasFindings(item.id, item.version))) return []
    const { findings, blocking } = await store.checks.judgeItem(item.id, item.blockedVersion ?? item.version)
    // Those of low severity are for the page of findings.
    const open = findings.filter(({ severity, waived }) => severity !== 'low' && !waived)
    const hints = open
      .slice(0, MAX_NAMED)
      .map(
        ({ severity, rule, file, line, evidence, why, fix }) =>
          `Check, ${severity}: ${rule} in ${file}, line ${line} (${evidence}). ${why} ${fix}`,
      )
    if (open.length > MAX_NAMED) {
      const counts = SEVERITIES.map((severity) => `${open.filter((one) => one.severity === severity).length} ${severity}`).join(', ')
      hints.push(`Check: ${open.length} findings in all (${counts}); check_item lists them.`)
    }
    if (blocking.length > 0) {
      const rules = [...new Set(blocking.map(({ rule }) => rule))].join(', ')
      const who = item.blockedVersion === null ? 'Only its owner sees it' : 'Others still see the last version that it allows'
      hints.push(`The policy blocks this version (${rules}). ${who}.`)
    }
    return hints
  } catch (error) {
    // The item is saved, whatever happens here.
    onFault?.(error)
    return []
  }
}

/** An answer with these hints; as it is without any. */
export function withCheckHints<T extends object>(answer: T, hints: string[]): T & { hints?: string[] } {
  return hints.length > 0 ? { ...answer, hints } : answer
}
