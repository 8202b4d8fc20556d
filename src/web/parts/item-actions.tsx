import type { FC } from 'hono/jsx'
import { AppError } from '../../errors.ts'
import type { Output } from '../../operations/core/define-operation.ts'
import type { CallOperation } from '../../operations/core/invoke.ts'
import { setFeatured, setHeld, showMarks } from '../../operations/items/item-marks.ts'
import { deleteItem } from '../../operations/items/trash.ts'
import { removeVote, vote } from '../../operations/items/votes.ts'
import type { Action, PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { ERROR_WORDS } from '../strings/errors.ts'
import { ActionButton } from './field.tsx'

type Collection = 'prompts' | 'skills'
/** The signed-in reader's relation to an item; null when anonymous. */
export type Standing = Output<typeof showMarks> | null

/** Asks how an item stands to the reader. */
export async function readStanding({ site, call }: PageRequest, collection: Collection, id: string): Promise<Standing> {
  return site.reader ? await call(showMarks, { collection, id }) : null
}

/** The reader's actions on an item, each a one-button form. */
export const ItemActions: FC<{ site: Site; path: string; standing: Standing; isPublic: boolean }> = ({
  site: { words, reader },
  path,
  standing,
  isPublic,
}) =>
  standing === null ? null : (
    <div class="item-actions">
      <ActionButton action={path} does={standing.hasVoted ? 'unvote' : 'vote'} isPressed={standing.hasVoted}>
        {standing.hasVoted ? words.unvote : words.vote}
      </ActionButton>
      {standing.isOwner ? (
        <>
          <a class="button" href={`${path}/edit`}>
            {words.edit}
          </a>
          <ActionButton action={path} does="delete">
            {words.moveToTrash}
          </ActionButton>
        </>
      ) : null}
      {reader?.isAdmin && isPublic ? (
        <ActionButton action={path} does={standing.isFeatured ? 'unfeature' : 'feature'}>
          {standing.isFeatured ? words.unfeature : words.feature}
        </ActionButton>
      ) : null}
      {reader?.isAdmin && (isPublic || standing.isHeld) ? (
        <ActionButton action={path} does={standing.isHeld ? 'unhold' : 'hold'}>
          {standing.isHeld ? words.unhold : words.hold}
        </ActionButton>
      ) : null}
      {reader?.isAdmin && !standing.isOwner ? (
        <a class="button" href={`${path}/purge`}>
          {words.purge.link}
        </a>
      ) : null}
      {standing.isHeld && standing.isOwner ? <p class="quiet">{words.isHeld}</p> : null}
    </div>
  )

type Act = (call: CallOperation, item: { readonly collection: Collection; readonly id: string }) => Promise<unknown>

/** What each button does. */
const ACTS: ReadonlyMap<string, Act> = new Map<string, Act>([
  ['vote', (call, item) => call(vote, item)],
  ['unvote', (call, item) => call(removeVote, item)],
  ['delete', (call, item) => call(deleteItem, item)],
  ['feature', (call, item) => call(setFeatured, { ...item, isFeatured: true })],
  ['unfeature', (call, item) => call(setFeatured, { ...item, isFeatured: false })],
  ['hold', (call, item) => call(setHeld, { ...item, isHeld: true })],
  ['unhold', (call, item) => call(setHeld, { ...item, isHeld: false })],
])

/** Does what a button of {@link ItemActions} says. */
export function actOnItem(collection: Collection): Action {
  return async ({ call, form, ref, path }) => {
    const does = form.text('do')
    const act = ACTS.get(does)
    if (!act) throw new AppError('invalid_input', ERROR_WORDS.noButton)
    // The slug of an unlisted item works for its owner only.
    const { id } = does === 'hold' ? await call(showMarks, { collection, id: ref }) : { id: ref }
    await act(call, { collection, id: ref })
    if (does === 'delete') return { to: '/trash?done=deleted' }
    return { to: does === 'hold' ? `/${collection}/${id}` : path }
  }
}
