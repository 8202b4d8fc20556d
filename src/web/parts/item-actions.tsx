import type { FC } from 'hono/jsx'
import type { Visibility } from '../../domain/items/visibility.ts'
import { hasRight, type TeamRight } from '../../domain/people/teams.ts'
import { AppError } from '../../errors.ts'
import type { CallOperation } from '../../operations/core/invoke.ts'
import type { Output } from '../../operations/core/procedure.ts'
import { favourite, removeFavourite, removeVote, setFeatured, setHeld, showMarks, vote } from '../../operations/items/marks.ts'
import { copyItem } from '../../operations/items/save-items.ts'
import { deleteItem } from '../../operations/items/trash.ts'
import { updatePrompt, updateSkill } from '../../operations/items/update-items.ts'
import { localPath } from '../forms.ts'
import type { Action, PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { ActionButton } from './field.tsx'

type Collection = 'prompts' | 'skills'
/** The signed-in reader's relation to an item; null when anonymous. */
export type Standing = Output<typeof showMarks> | null

/** The team that owns an item, or null. */
export function teamOf(standing: Standing): string | null {
  return standing?.isTeam ? standing.owner : null
}

/** Whether the reader's role over an item has a right. */
export function mayDo(standing: Standing, right: TeamRight): boolean {
  return standing !== null && hasRight(standing.role, right)
}

/** Asks how an item stands to the reader. */
export async function readStanding({ site, call }: PageRequest, collection: Collection, id: string): Promise<Standing> {
  return site.reader ? await call(showMarks, { collection, id }) : null
}

interface ItemActionsProps {
  readonly site: Site
  readonly item: { readonly path: string; readonly url: string; readonly visibility: Visibility }
  readonly standing: Standing
}

/** The reader's actions on an item, each a one-button form; those that few need are in a menu. */
export const ItemActions: FC<ItemActionsProps> = ({ site, item, standing }) => {
  const { words, reader } = site
  const isAdmin = reader?.isAdmin ?? false
  return (
    <div class="item-actions">
      {standing === null ? null : (
        <ActionButton class="button quiet" action={item.path} does={standing.hasVoted ? 'unvote' : 'vote'} isPressed={standing.hasVoted}>
          {standing.hasVoted ? words.unvote : words.vote}
        </ActionButton>
      )}
      {standing === null ? null : (
        <ActionButton
          class="button quiet starred"
          action={item.path}
          does={standing.isFavourite ? 'unfavourite' : 'favourite'}
          isPressed={standing.isFavourite}
        >
          {words.favourite}
        </ActionButton>
      )}
      {standing === null ? null : (
        <a class="button quiet" href={`${item.path}/collections`} rel="nofollow">
          {words.collecting.addTo}
        </a>
      )}
      {standing === null || mayDo(standing, 'edit') ? null : (
        <ActionButton class="button quiet" action={item.path} does="copy">
          {words.saveToLibrary}
        </ActionButton>
      )}
      {mayDo(standing, 'edit') ? (
        <a class="button quiet" href={`${item.path}/edit`}>
          {words.edit}
        </a>
      ) : null}
      {item.visibility === 'private' ? null : (
        <button class="button quiet" type="button" data-share={item.url} data-copied={words.linkCopied} hidden>
          {words.share}
        </button>
      )}
      {standing && mayDo(standing, 'publish') && !standing.isHeld && item.visibility !== 'public' ? (
        <details class="menu">
          <summary class="button quiet">{words.makePublic}</summary>
          <div>
            <p>{words.makePublicMeans}</p>
            <ActionButton class="button first" action={item.path} does="publish">
              {words.makePublic}
            </ActionButton>
          </div>
        </details>
      ) : null}
      {standing !== null && (mayDo(standing, 'edit') || isAdmin) ? <MoreActions site={site} item={item} standing={standing} /> : null}
      {standing?.isHeld && (mayDo(standing, 'edit') || isAdmin) ? <p class="quiet">{words.isHeld}</p> : null}
    </div>
  )
}

/** The rare actions of an owner or an administrator. */
const MoreActions: FC<ItemActionsProps & { readonly standing: NonNullable<Standing> }> = ({ site: { words, reader }, item, standing }) => {
  const isAdmin = reader?.isAdmin ?? false
  const isPublic = item.visibility === 'public'
  return (
    <details class="menu">
      <summary class="button quiet" aria-label={words.moreActions}>
        ⋯
      </summary>
      <div>
        {mayDo(standing, 'edit') ? (
          <ActionButton class="link" action={item.path} does="copy">
            {words.duplicate}
          </ActionButton>
        ) : null}
        {mayDo(standing, 'transfer') ? (
          <a class="link" href={`${item.path}/transfer`}>
            {words.transfers.transfer}
          </a>
        ) : null}
        {mayDo(standing, 'delete') ? (
          <ActionButton class="link" action={item.path} does="delete">
            {words.moveToTrash}
          </ActionButton>
        ) : null}
        {isAdmin && isPublic ? (
          <ActionButton class="link" action={item.path} does={standing.isFeatured ? 'unfeature' : 'feature'}>
            {standing.isFeatured ? words.unfeature : words.feature}
          </ActionButton>
        ) : null}
        {isAdmin && (isPublic || standing.isHeld) ? (
          <ActionButton class="link" action={item.path} does={standing.isHeld ? 'unhold' : 'hold'}>
            {standing.isHeld ? words.unhold : words.hold}
          </ActionButton>
        ) : null}
        {isAdmin && !mayDo(standing, 'delete') ? (
          <a class="link" href={`${item.path}/purge`}>
            {words.purge.link}
          </a>
        ) : null}
      </div>
    </details>
  )
}

type Item = { readonly collection: Collection; readonly id: string }

interface Act {
  /** @returns the path to go to; undefined for the page the button was on */
  run(call: CallOperation, item: Item): Promise<string | undefined>
  /** Key of the message that is shown then. */
  readonly done: string
}

/** An action that stays on its page. */
function staying(done: string, act: (call: CallOperation, item: Item) => Promise<unknown>): Act {
  return { done, run: (call, item) => act(call, item).then(() => undefined) }
}

/** The action of each button. */
const ACTS: ReadonlyMap<string, Act> = new Map<string, Act>([
  ['vote', staying('voted', (call, item) => call(vote, item))],
  ['unvote', staying('unvoted', (call, item) => call(removeVote, item))],
  ['favourite', staying('favourited', (call, item) => call(favourite, item))],
  ['unfavourite', staying('unfavourited', (call, item) => call(removeFavourite, item))],
  ['copy', { done: 'copied', run: copy }],
  ['publish', { done: 'published', run: publish }],
  ['delete', { done: 'deleted', run: (call, item) => call(deleteItem, item).then(() => '/trash') }],
  ['feature', staying('featured', (call, item) => call(setFeatured, { ...item, isFeatured: true }))],
  ['unfeature', staying('unfeatured', (call, item) => call(setFeatured, { ...item, isFeatured: false }))],
  ['hold', { done: 'held', run: hold }],
  ['unhold', staying('unheld', (call, item) => call(setHeld, { ...item, isHeld: false }))],
])

async function copy(call: CallOperation, item: Item): Promise<string> {
  return new URL((await call(copyItem, item)).url).pathname
}

/** The first publication gives the item another slug. */
async function publish(call: CallOperation, { collection, id }: Item): Promise<string> {
  const change = { id, visibility: 'public' } as const
  const { url } = collection === 'prompts' ? (await call(updatePrompt, change)).prompt : (await call(updateSkill, change)).skill
  return new URL(url).pathname
}

/** The slug of an unlisted item works for its owner only. */
async function hold(call: CallOperation, item: Item): Promise<string> {
  const { id } = await call(setHeld, { ...item, isHeld: true })
  return `/${item.collection}/${id}`
}

/** Does what a button of {@link ItemActions} says. A list that has such a button names itself in `back`. */
export function actOnItem(collection: Collection): Action {
  return async ({ site, call, form, ref, path }) => {
    const act = ACTS.get(form.text('do'))
    if (!act) throw new AppError('invalid_input', site.words.errors.noButton)
    const to = await act.run(call, { collection, id: ref })
    return { to: form.has('back') ? localPath(form.text('back'), path) : `${to ?? path}?done=${act.done}` }
  }
}
