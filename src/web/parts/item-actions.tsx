import type { FC } from 'hono/jsx'
import type { Visibility } from '../../domain/items/visibility.ts'
import { hasRight, type TeamRight } from '../../domain/people/teams.ts'
import type { Output } from '../../operations/core/procedure.ts'
import { favourite, removeFavourite, removeVote, setFeatured, setHeld, showMarks, vote } from '../../operations/items/marks.ts'
import { copyItem } from '../../operations/items/save-items.ts'
import { deleteItem } from '../../operations/items/trash.ts'
import { updatePrompt, updateSkill } from '../../operations/items/update-items.ts'
import { localPath } from '../forms.ts'
import { type Acting, type Action, actBy, doing, done, type PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { keepDeleted } from './bulk-bar.tsx'
import { Link } from './controls.tsx'
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

/** The newest version, where the check blocks it and the reader sees it; else null. */
export function blockedVersionOf(standing: Standing): number | null {
  return standing && standing.version > standing.servedVersion ? standing.version : null
}

/** Asks how an item stands to the reader. */
export async function readStanding({ site, call }: PageRequest, collection: Collection, id: string): Promise<Standing> {
  return site.reader ? await call(showMarks, { collection, id }) : null
}

interface ItemActionsProps {
  /** Prompts that take it in, as far as the reader sees them. Default: 0 */
  readonly usedBy?: number | undefined
  /** Findings of high severity that nobody accepted. Default: 0 */
  readonly highFindings?: number | undefined
  readonly site: Site
  readonly item: { readonly path: string; readonly url: string; readonly visibility: Visibility }
  readonly standing: Standing
}

/** The reader's actions on an item, each a one-button form: the two that most use, and a menu of the others. */
export const ItemActions: FC<ItemActionsProps> = ({ site, item, standing, usedBy, highFindings = 0 }) => {
  const { words } = site
  if (standing === null) return <ShareButton words={words} item={item} look="button quiet" />
  return (
    <>
      <ActionButton
        class="button quiet starred"
        action={item.path}
        does={standing.isFavourite ? 'unfavourite' : 'favourite'}
        isPressed={standing.isFavourite}
        text={words.favourite}
      />
      {mayDo(standing, 'edit') ? (
        <Link to={`${item.path}/edit`} look="button quiet" text={words.edit} />
      ) : (
        <ActionButton class="button quiet" action={item.path} does="copy" text={words.saveToLibrary} />
      )}
      {mayDo(standing, 'publish') && !standing.isHeld && item.visibility !== 'public' ? (
        <details class="menu">
          <summary class="button quiet">{words.makePublic}</summary>
          <div>
            <p>{words.makePublicMeans}</p>
            {highFindings === 0 ? null : (
              <p class="notice">
                {words.findings.highCount(highFindings)} <a href={`${item.path}/check`}>{words.findings.seeFindings}</a>
              </p>
            )}
            <ActionButton class="button first" action={item.path} does="publish" text={words.makePublic} />
          </div>
        </details>
      ) : null}
      <MoreActions site={site} item={item} standing={standing} usedBy={usedBy} />
      {standing.isHeld && (mayDo(standing, 'edit') || site.reader?.isAdmin) ? <p class="quiet">{words.isHeld}</p> : null}
    </>
  )
}

interface ShareButtonProps {
  readonly words: Site['words']
  readonly item: { readonly url: string; readonly visibility: Visibility }
  readonly look: string
}

/** Shares or copies the address of what others may see; a script shows it. */
export const ShareButton: FC<ShareButtonProps> = ({ words, item, look }) =>
  item.visibility === 'private' ? null : (
    <button class={look} type="button" data-share={item.url} data-copied={words.linkCopied} hidden>
      {words.share}
    </button>
  )

/** The menu of rarer actions on an item; deleting comes last. */
const MoreActions: FC<ItemActionsProps & { readonly standing: NonNullable<Standing> }> = ({ site, item, standing, usedBy = 0 }) => {
  const { words, reader } = site
  const isAdmin = reader?.isAdmin ?? false
  const isPublic = item.visibility === 'public'
  const may = (right: TeamRight) => mayDo(standing, right)
  const acts: readonly (readonly [isOffered: boolean, does: string, label: string])[] = [
    [true, standing.hasVoted ? 'unvote' : 'vote', standing.hasVoted ? words.unvote : words.vote],
    [may('edit'), 'copy', words.duplicate],
    [isAdmin && isPublic, standing.isFeatured ? 'unfeature' : 'feature', standing.isFeatured ? words.unfeature : words.feature],
    [isAdmin && (isPublic || standing.isHeld), standing.isHeld ? 'unhold' : 'hold', standing.isHeld ? words.unhold : words.hold],
  ]
  return (
    <details class="menu">
      <summary class="button quiet" aria-label={words.moreActions}>
        ⋯
      </summary>
      <div>
        <Link to={`${item.path}/collections`} look="link" rel="nofollow" text={words.collecting.addTo} />
        <ShareButton words={words} item={item} look="link" />
        {acts.map(([isOffered, does, label]) =>
          isOffered ? <ActionButton class="link" action={item.path} does={does} text={label} /> : null,
        )}
        {may('transfer') ? <Link to={`${item.path}/transfer`} look="link" text={words.transfers.transfer} /> : null}
        {may('delete') ? (
          <div class="last">
            <ActionButton
              class="link"
              action={item.path}
              does="delete"
              text={usedBy === 0 ? words.delete : words.reading.deleteUsed(usedBy)}
            />
          </div>
        ) : isAdmin ? (
          <div class="last">
            <Link to={`${item.path}/purge`} look="link" text={words.deleteForGood} />
          </div>
        ) : null}
      </div>
    </details>
  )
}

/** Does what a button of {@link ItemActions} says. A list that has such a button names itself in `back`. */
export function actOnItem(collection: Collection): Action {
  const item = ({ ref }: Acting) => ({ collection, id: ref })
  const act = actBy({
    vote: doing(vote, item, 'voted'),
    unvote: doing(removeVote, item, 'unvoted'),
    favourite: doing(favourite, item, 'favourited'),
    unfavourite: doing(removeFavourite, item, 'unfavourited'),
    copy: doing(copyItem, item, 'copied', (_, { url }) => new URL(url).pathname),
    publish,
    delete: discard,
    feature: doing(setFeatured, (request) => ({ ...item(request), isFeatured: true }), 'featured'),
    unfeature: doing(setFeatured, (request) => ({ ...item(request), isFeatured: false }), 'unfeatured'),
    // The slug of an unlisted item works for its owner only.
    hold: doing(
      setHeld,
      (request) => ({ ...item(request), isHeld: true }),
      'held',
      (_, { id }) => `/${collection}/${id}`,
    ),
    unhold: doing(setHeld, (request) => ({ ...item(request), isHeld: false }), 'unheld'),
  })

  /** The first publication gives the item another slug. */
  async function publish({ call, ref: id }: Acting) {
    const change = { id, visibility: 'public' } as const
    const { url } = collection === 'prompts' ? (await call(updatePrompt, change)).prompt : (await call(updateSkill, change)).skill
    return done(new URL(url).pathname, 'published')
  }

  /** Leads to the reader's items, whose page tells what was deleted and can undo it. */
  async function discard(request: Acting) {
    const { call } = request
    const { id, owner, isTeam } = await call(showMarks, item(request))
    await call(deleteItem, item(request))
    const view = { kind: collection, ...(isTeam && { owner }), report: await keepDeleted(call, collection, [id]) }
    return { to: `/library?${new URLSearchParams(view)}` }
  }

  return async (request) => {
    const { form, path } = request
    const outcome = await act(request)
    return form.has('back') ? { to: localPath(form.text('back'), path) } : outcome
  }
}
