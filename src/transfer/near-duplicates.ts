import { ANONYMOUS, actorOf } from '../domain/people/actor.ts'
import type { LibraryStore } from '../storage/store.ts'
import type { CreatedItem } from './prepare-prompt.ts'

/** Created items that are compared, how long that may take, and the prompts that strangers see in a library where it is done: its index is loaded. */
const MAX_COMPARED = 2_000
const MAX_MS = 5_000
const MAX_LIBRARY = 200_000
/** Pairs that are named. */
const MAX_NAMED = 5

/** Collects what an import creates, to be compared afterwards. */
export function collectCreated() {
  const items: CreatedItem[] = []
  const created = {
    items,
    count: 0,
    add(item: CreatedItem) {
      created.count++
      if (items.length < MAX_COMPARED) items.push(item)
    },
  }
  return created
}

/**
 * Says how many imported items nearly repeat others that their owners find, and names the first ones; null when none does. Reads the search
 * index, then takes about 2 ms an item; after `maxMs` milliseconds the others are not compared. More items than can be compared, or those of a
 * library whose index takes long to load, are not compared at all.
 */
export async function describeNearDuplicates(
  { items: reader, service }: Pick<LibraryStore, 'items' | 'service'>,
  created: ReturnType<typeof collectCreated>,
  maxMs = MAX_MS,
  maxLibrary = MAX_LIBRARY,
): Promise<string | null> {
  if (created.count === 0) return null
  if (created.count > MAX_COMPARED || (await reader.countPrompts(ANONYMOUS, {})) > maxLibrary) {
    const limits = `at most ${MAX_COMPARED.toLocaleString('en')} new items, in a library of at most ${maxLibrary.toLocaleString('en')}`
    return `The imported items were not compared with others: that is done for ${limits}.`
  }
  // Nothing is compared before the index is loaded.
  await service.loadSearch()
  const named: string[] = []
  const pairs = new Set<string>()
  let count = 0
  let compared = 0
  const endsAt = performance.now() + maxMs
  for (const { kind, id, title, owner } of created.items) {
    if (compared > 0 && performance.now() > endsAt) break
    compared++
    const known = await reader.findNearDuplicate(actorOf(owner, ['read']), kind, id)
    if (!known) continue
    count++
    const pair = [id, known.id].sort().join(' ')
    if (named.length < MAX_NAMED && !pairs.has(pair)) named.push(`"${title}" and "${known.title}"`)
    pairs.add(pair)
  }
  if (count === 0) return null
  const limit =
    created.count > compared ? ` Only the first ${compared === 1 ? 'created item was' : `${compared} created items were`} compared.` : ''
  const more = pairs.size > named.length ? `, and ${pairs.size - named.length} more` : ''
  const items = count === 1 ? '1 imported item is' : `${count} imported items are`
  return `${items} nearly the same as another: ${named.join(', ')}${more}.${limit}`
}
