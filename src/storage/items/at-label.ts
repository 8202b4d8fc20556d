import { type Kysely, sql } from 'kysely'
import { atVersion } from '../../domain/items/at-version.ts'
import { isOfKind, type Prompt } from '../../domain/items/items.ts'
import type { ItemFilter } from '../../domain/items/search.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { AppError } from '../../errors.ts'
import { batches, prepareListQuery } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { applyFilter, readFilter } from './item-filters.ts'
import { selectLabelled } from './item-labels.ts'
import { promptType, readBody, selectItems, seqOf, toItems } from './item-rows.ts'

/** A page of prompts at a label, each as its version has it. */
interface LabelledPrompts {
  readonly items: readonly { readonly item: Prompt; readonly version: number }[]
  readonly total: number
}

/** The texts of one answer. */
const MAX_LABELLED_BYTES = 16 * 2 ** 20

const itemsOf = prepareListQuery((db, seqs) => selectItems(db).where('item.seq', 'in', seqs))
const textsOf = prepareListQuery((db, seqs) =>
  db
    .selectFrom('version')
    .select(['item_seq', 'title', 'description', 'type', 'content', 'messages', 'config', 'syntax'])
    .where('seq', 'in', seqs),
)

/** Prompts at a label with everything that their version holds, oldest first; those without it are left out. */
export function listAtLabel(db: Kysely<Database>) {
  return async (
    actor: Actor,
    { label, ...filter }: ItemFilter & { readonly label: string },
    limit: number,
    offset: number,
  ): Promise<LabelledPrompts> => {
    const labelled = selectLabelled(db, actor, label).select([
      'version.seq as text',
      sql<number>`octet_length(version.content)`.as('bytes'),
    ])
    const found = await applyFilter(labelled, 'prompt', await readFilter(db, actor, filter), visibleSet(actor, 'list'))
      .orderBy('item.seq')
      .execute()
    const page = found.slice(offset, offset + limit)
    if (page.reduce((sum, { bytes }) => sum + Number(bytes), 0) > MAX_LABELLED_BYTES) {
      throw new AppError(
        'too_large',
        `These prompts have more than ${MAX_LABELLED_BYTES / 2 ** 20} MiB. Ask for those of a category, tag or author.`,
      )
    }
    const items: LabelledPrompts['items'][number][] = []
    for (const part of batches(page)) {
      const rows = await itemsOf(db, part.map(seqOf))
      const newest = new Map((await toItems(db, rows)).filter(isOfKind('prompt')).map((item, place) => [rows[place]?.seq, item]))
      const older = part.filter(({ seq, version }) => newest.get(seq)?.version !== version).map(({ text }) => text)
      const texts = new Map((older.length === 0 ? [] : await textsOf(db, older)).map((row) => [row.item_seq, row]))
      for (const { seq, version } of part) {
        const [item, text] = [newest.get(seq), texts.get(seq)]
        if (!item || (item.version !== version && !text)) continue
        const at = text && { ...text, type: promptType.nullable().parse(text.type), body: readBody(text), files: null }
        items.push({ item: at ? atVersion<'prompt'>(item, at) : item, version })
      }
    }
    return { items, total: found.length }
  }
}
