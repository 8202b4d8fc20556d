import type { FC } from 'hono/jsx'
import type { Output } from '../../operations/core/procedure.ts'
import type { showItemPage } from '../../operations/items/item-page.ts'
import type { Site } from '../site.ts'
import { Ago } from './day.tsx'

interface VersionIndexProps {
  readonly site: Site
  /** Path of the item. */
  readonly path: string
  readonly versions: readonly { readonly version: number; readonly createdAt: string }[]
  readonly labels: readonly { readonly name: string; readonly targets: readonly { readonly version: number }[] }[]
}

/** Versions in a margin; the whole list is a page of its own. */
const SHOWN = 6

/** An item's newest versions as an index; nothing while there is only one. */
export const VersionIndex: FC<VersionIndexProps> = ({ site: { words }, path, versions, labels }) =>
  versions.length < 2 && labels.length === 0 ? null : (
    <nav class="versions" aria-label={words.versions}>
      <h2 class="kind">{words.versions}</h2>
      <ol>
        {versions.slice(0, SHOWN).map(({ version, createdAt }) => (
          <li>
            <a href={`${path}/versions/${version}`}>
              <span>{version}</span> <Ago words={words} at={createdAt} />
            </a>
            {labels
              .filter(({ targets }) => targets.some((target) => target.version === version))
              .map(({ name }) => (
                <span class="label-name">{name}</span>
              ))}
          </li>
        ))}
      </ol>
      <a href={`${path}/versions`}>{words.reading.allVersions}</a>
    </nav>
  )

/** Links to the items nearest to one in meaning; nothing when none is near. */
export const Related: FC<{ site: Site; items: Output<typeof showItemPage>['related'] }> = ({ site: { words }, items }) =>
  items.length === 0 ? null : (
    <nav class="related" aria-label={words.reading.related}>
      <h2 class="kind">{words.reading.related}</h2>
      <ul>
        {items.map(({ title, url, nearlySame }) => (
          <li>
            <a href={new URL(url).pathname}>{title}</a>
            {nearlySame ? ` (${words.reading.nearlySame})` : null}
          </li>
        ))}
      </ul>
    </nav>
  )
