import type { FC } from 'hono/jsx'
import type { Visibility } from '../../domain/items/visibility.ts'
import type { Site } from '../site.ts'
import { nameVisibility } from './item-fields.tsx'

interface ItemTitleProps {
  readonly site: Site
  readonly title: string
  /** null where the reader need not know it: it is somebody else's, and anybody may see it */
  readonly visibility: Visibility | null
  /** The team that owns it. */
  readonly team: string | null
}

/** The title of an item's page, with whose it is where that is a team, and who can see it. */
export const ItemTitle: FC<ItemTitleProps> = ({ site: { words }, title, visibility, team }) => (
  <div class="titled">
    <h1 dir="auto">{title}</h1>
    {team === null ? null : (
      <a class="team quiet" href={`/@${team}`}>
        {words.teamNamed(team)}
      </a>
    )}
    {visibility === null ? null : (
      <span class={`badge is-${visibility}`} title={nameVisibility(words, visibility, team)}>
        {words.visibilities[visibility]}
      </span>
    )}
  </div>
)
