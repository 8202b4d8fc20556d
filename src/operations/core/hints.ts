import { z } from 'zod'
import { SEVERITIES } from '../../domain/check/findings.ts'
import { isCategoryNamed } from '../../domain/items/fields.ts'
import type { Item } from '../../domain/items/items.ts'
import type { HitScore } from '../../domain/items/search.ts'
import { slugifyTag } from '../../domain/items/slug.ts'
import { usedCategories } from '../items/list-categories.ts'
import type { Needs } from './procedure.ts'

/** Most values a hint lists; the rest is counted. */
const MAX_LISTED = 50

/**
 * Sentences for whoever called, beside the answer: REST carries them in it, MCP as a second text, so that the answer keeps its shape.
 * @see splitHints
 */
export const hintsOutput = {
  hints: z.array(z.string()).optional().describe('Possible mistakes in the call, with valid values, or an item that is nearly the same'),
}

/** Names the categories and tags of a filter that no visible item has, with those that some have. None for a filter that found something. */
export async function hintsFor(
  { actor, store }: Needs<'categories'>,
  found: number,
  filter: { readonly category?: string | undefined; readonly tags?: readonly string[] | undefined },
): Promise<{ hints?: string[] }> {
  const { category, tags = [] } = filter
  if (found > 0 || (category === undefined && tags.length === 0)) return {}
  const hints: string[] = []
  if (category !== undefined) {
    const categories = await store.categories.listCategories(actor)
    const valid = usedCategories(categories).map(({ slug }) => slug)
    if (!categories.some((known) => isCategoryNamed(known, category))) hints.push(toHint('category', category, valid))
  }
  if (tags.length > 0) {
    const { items } = await store.categories.listTags(actor, { limit: Number.MAX_SAFE_INTEGER, offset: 0 })
    const known = items.map(({ slug }) => slug)
    for (const tag of tags) if (!known.includes(slugifyTag(tag))) hints.push(toHint('tag', tag, known))
  }
  return hints.length > 0 ? { hints } : {}
}

const names = new Intl.DisplayNames('en', { type: 'language' })
// Making one takes longer than a look-up.
const lists = new Intl.ListFormat('en')

/**
 * Adds the languages of the texts for a model whose query no hit matches, so that it asks again in one of them. Other callers know theirs.
 * @param scores of the hits; none without a query
 */
export async function withLanguages(
  { actor, store, surface }: Needs<'items'>,
  scores: readonly HitScore[],
  query: string,
  { hints = [] }: { readonly hints?: string[] },
): Promise<{ hints?: string[] }> {
  const isMissed = surface === 'mcp' && query.trim() !== '' && scores.every(({ isApproximate }) => isApproximate)
  const languages = isMissed ? await store.items.findLanguages(actor) : []
  const list = lists.format(languages.map(({ code, share }) => `${names.of(code)} (${Math.round(share * 100)} %)`))
  const said = list === '' ? [] : [`Nothing here matches these words. Texts are in ${list}: search in one of their languages.`]
  return said.length + hints.length === 0 ? {} : { hints: [...said, ...hints] }
}

function toHint(kind: 'category' | 'tag', value: string, known: readonly string[]): string {
  const shown = known.slice(0, MAX_LISTED)
  const rest = known.length - shown.length
  const list = shown.length === 0 ? 'none' : `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
  return `Unknown ${kind} "${value.slice(0, 80).toWellFormed()}". Valid values for ${kind}: ${list}.`
}

/** An answer and the hints beside it. */
export function splitHints(output: Record<string, unknown>): {
  readonly answer: Record<string, unknown>
  readonly hints: readonly string[]
} {
  const { hints } = output
  if (!Array.isArray(hints)) return { answer: output, hints: [] }
  const { hints: _, ...answer } = output
  return { answer, hints: hints.map(String) }
}

/** Findings that an answer names. */
const MAX_NAMED = 5

/** Sentences about an item for whoever just saved it: the worst findings of the check, and whether others see it. */
export async function checkHints({ store, onFault }: Needs<'checks'>, item: Item): Promise<{ hints?: string[] }> {
  try {
    // Most items have none.
    if (item.blockedVersion === null && !(await store.checks.hasFindings(item.id, item.version))) return {}
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
    return hints.length > 0 ? { hints } : {}
  } catch (error) {
    // The item is saved, whatever happens here.
    onFault?.(error)
    return {}
  }
}
