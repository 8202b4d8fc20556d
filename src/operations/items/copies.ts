import { z } from 'zod'
import { cutCharacters } from '../../library/characters.ts'
import { MAX_TITLE } from '../../library/fields.ts'
import type { Item } from '../../library/items.ts'
import { isWiderThan } from '../../library/visibility.ts'
import { collectionInput, editorOf, refInput, requireItem } from '../core/inputs.ts'
import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'
import { itemUrl } from '../core/records.ts'
import { newOwnership } from '../prompts/save-prompt.ts'

const target = z.object({ collection: collectionInput, id: refInput.describe('Id or slug') })
/** Ends the title of a copy of one's own item: two of one title are easily mixed up. */
const COPY = ' (copy)'

function titleOfCopy({ title, ownerId }: Item, userId: string): string {
  return ownerId === userId ? cutCharacters(title, MAX_TITLE - COPY.length) + COPY : title
}

/** Save a copy of an item you can see under your account, with all files of a skill. Private unless your settings say otherwise. */
export const copyItem = defineProcedure({
  scope: 'account',
  writes: true,
  input: target,
  async run(context: Needs<'items', 'baseUrl'>, input) {
    const { actor, store, baseUrl } = context
    const user = requireUser(actor)
    const source = await requireItem(context, input)
    const { visibility: usual } = await newOwnership(context, {})
    // A copy of somebody else's item reaches nobody whom the item does not.
    const isWider = source.ownerId !== user.userId && isWiderThan(usual, source.visibility)
    const visibility = isWider ? 'private' : usual
    const editor = { ...editorOf(user), note: null, copies: source.id }
    const fields = {
      title: titleOfCopy(source, user.userId),
      description: source.description,
      category: source.category?.slug ?? null,
      tags: source.tags.map(({ name }) => name),
      visibility,
    }
    const copy =
      source.kind === 'prompt'
        ? await store.items.createItem(editor, { kind: 'prompt', ...fields, type: source.type, content: source.content })
        : await store.items.createItem(editor, { kind: 'skill', ...fields, files: await store.items.readSkillFiles(actor, source.id) })
    return { id: copy.id, url: itemUrl(baseUrl, copy.kind, copy) }
  },
})
