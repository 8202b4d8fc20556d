import { z } from 'zod'
import { isId } from '../../library/identifier.ts'
import { damerauLevenshtein } from '../../search/analysis/edit-distance.ts'
import { parseQuery } from '../../search/analysis/query.ts'
import { refInput } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'

/** Items of each kind that are compared, best match first. */
const COMPARED = 20
const MAX_NEAR = 5
/** Mistyped characters in a slug, and the least length of one that was cut or has more behind it. */
const MAX_EDITS = 2
const MIN_START = 8

/** Items of lists whose slug is close to an address that leads nowhere: mistyped, cut, or with something behind it. */
export const nearAddresses = defineProcedure({
  scope: null,
  input: z.object({ ref: refInput }),
  async run({ actor, store }: Needs<'items'>, { ref }) {
    const wanted = ref.toLowerCase()
    const query = parseQuery(wanted.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim())
    if (isId(ref) || query === null) return { items: [] }
    const request = { query, filter: {}, sort: 'relevance', limit: COMPARED, offset: 0 } as const
    const [prompts, skills] = await Promise.all([
      store.items.searchItems(actor, 'prompt', request),
      store.items.searchItems(actor, 'skill', request),
    ])
    const items = [
      ...prompts.items.map(({ slug, title }) => ({ collection: 'prompts' as const, slug, title })),
      ...skills.items.map(({ slug, title }) => ({ collection: 'skills' as const, slug, title })),
    ]
    return { items: items.filter(({ slug }) => isNear(slug, wanted)).slice(0, MAX_NEAR) }
  },
})

function isNear(slug: string, wanted: string): boolean {
  const [short, long] = slug.length < wanted.length ? [slug, wanted] : [wanted, slug]
  if (short.length >= MIN_START && long.startsWith(short)) return true
  return short.length > MAX_EDITS && damerauLevenshtein(slug, wanted, MAX_EDITS) <= MAX_EDITS
}
