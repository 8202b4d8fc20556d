import { z } from 'zod'
import { isCategoryNamed } from '../../library/category-name.ts'
import type { HitScore } from '../../library/ports/search.ts'
import { slugifyTag } from '../../library/slug.ts'
import { usedCategories } from '../items/list-categories.ts'
import type { Needs } from './define-operation.ts'

/** Most values a hint lists; the rest is counted. */
const MAX_LISTED = 50

/**
 * Sentences for whoever called, beside the answer: REST carries them in it, MCP as a second text, so that the answer keeps its shape.
 * @see splitHints
 */
export const hintsOutput = {
  hints: z.array(z.string()).optional().describe('Possible mistakes in the call, with valid values, or an item that is nearly the same'),
}

/**
 * Names the languages of the texts for a model whose query no hit matches, and the categories and tags of a filter that no visible item has, with
 * those that some have. None for a search that found what matches.
 */
export async function hintsFor(
  { actor, store, surface }: Needs<'categories' | 'items'>,
  { total, scores, query = '' }: { readonly total: number; readonly scores: readonly HitScore[]; readonly query: string | undefined },
  filter: { readonly category?: string | undefined; readonly tags?: readonly string[] | undefined },
): Promise<{ hints?: string[] }> {
  const { category, tags = [] } = filter
  const hints: string[] = []
  if (
    surface === 'mcp' &&
    query.trim() !== '' &&
    scores.length >= Math.min(1, total) &&
    scores.every(({ isApproximate }) => isApproximate)
  ) {
    const languages = await store.items.findLanguages(actor)
    if (languages.length > 0) hints.push(`Nothing here matches these words. ${describeLanguages(languages)}`)
  }
  if (total > 0) return hints.length > 0 ? { hints } : {}
  if (category !== undefined) {
    const categories = await store.categories.listCategories(actor)
    const isKnown = categories.some((known) => isCategoryNamed(known, category))
    if (!isKnown)
      hints.push(
        toHint(
          'category',
          category,
          usedCategories(categories).map(({ slug }) => slug),
        ),
      )
  }
  if (tags.length > 0) {
    const { items } = await store.categories.listTags(actor, { limit: Number.MAX_SAFE_INTEGER, offset: 0 })
    const known = items.map(({ slug }) => slug)
    for (const tag of tags) if (!known.includes(slugifyTag(tag))) hints.push(toHint('tag', tag, known))
  }
  return hints.length > 0 ? { hints } : {}
}

const names = new Intl.DisplayNames('en', { type: 'language' })

/** @example describeLanguages([{ code: 'en', share: 0.9 }]) // 'Texts are in English (90 %): search in one of their languages.' */
function describeLanguages(languages: Awaited<ReturnType<Needs<'items'>['store']['items']['findLanguages']>>): string {
  const list = languages.map(({ code, share }) => `${names.of(code)} (${Math.round(share * 100)} %)`)
  return `Texts are in ${new Intl.ListFormat('en').format(list)}: search in one of their languages.`
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
