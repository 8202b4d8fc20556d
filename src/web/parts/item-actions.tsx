import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { type Action, marks, type PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { ActionButton } from './field.tsx'

type Collection = 'prompts' | 'skills'
/** How an item stands to the reader; null for who is not signed in. */
export type Standing = z.infer<typeof marks> | null

/** Asks how an item stands to the reader. */
export async function readStanding({ site, call }: PageRequest, collection: Collection, id: string): Promise<Standing> {
  return site.reader ? await call('show_marks', { collection, id }, marks) : null
}

/** What the reader can do with an item, beside reading it: each a form of one button. */
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

const answer = z.object({})
const OPERATIONS: ReadonlyMap<string, readonly [name: string, input: Readonly<Record<string, boolean>>]> = new Map(
  Object.entries({
    vote: ['vote', {}],
    unvote: ['remove_vote', {}],
    delete: ['delete_item', {}],
    feature: ['set_featured', { isFeatured: true }],
    unfeature: ['set_featured', { isFeatured: false }],
    hold: ['set_held', { isHeld: true }],
    unhold: ['set_held', { isHeld: false }],
  }),
)

/** Does what a button of {@link ItemActions} says. */
export function actOnItem(collection: Collection): Action {
  return async ({ call, form, ref, path }) => {
    const does = form.text('do')
    const known = OPERATIONS.get(does)
    if (!known) throw new AppError('invalid_input', 'This page has no such button.')
    // Once it is out of the lists, its slug leads nobody but its owner to it.
    const { id } = does === 'hold' ? await call('show_marks', { collection, id: ref }, marks) : { id: ref }
    const [name, input] = known
    await call(name, { collection, id: ref, ...input }, answer)
    if (does === 'delete') return { to: '/trash?done=deleted' }
    return { to: does === 'hold' ? `/${collection}/${id}` : path }
  }
}
