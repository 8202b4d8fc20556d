import type { Child, FC } from 'hono/jsx'
import { z } from 'zod'
import type { Visibility } from '../../domain/items/visibility.ts'
import type { Output } from '../../operations/core/procedure.ts'
import type { showItemPage } from '../../operations/items/item-page.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { Link } from './controls.tsx'
import { Ago, authorPath } from './facts.tsx'
import { ActionButton, Done, Fault, takeHints } from './field.tsx'
import { ItemActions, mayDo, teamOf } from './item-actions.tsx'
import { nameVisibility } from './item-fields.tsx'

type ShownPage = Output<typeof showItemPage>

interface ItemHeadProps {
  readonly request: PageRequest
  readonly page: ShownPage
  readonly item: NonNullable<ShownPage['prompt'] | ShownPage['skill']>
  /** The main actions of a kind, before those of all items. */
  readonly first?: Child
  /** Shown below the description. */
  readonly children?: Child
}

/** A description of about three lines, in UTF-16 units; longer ones are folded. */
const LONG_LEAD = 240

/** The head of an item's page: title, description, source, what was just done, and what its reader can do. */
export const ItemHead: FC<ItemHeadProps> = ({
  request,
  page: { marks: standing, source, usedBy, blockedBy, check },
  item,
  first,
  children,
}) => {
  const { site, words, query, sent } = request
  const path = new URL(item.url).pathname
  const undone = takeRestored(request)
  const isOwn = mayDo(standing, 'see')
  const team = teamOf(standing)
  return (
    <header>
      <ItemTitle
        site={site}
        title={item.title}
        // Others' items need no badge where anybody may see them.
        visibility={isOwn || item.visibility === 'members' ? item.visibility : null}
        team={team}
      />
      <Lead text={item.description} />
      {children}
      {source === null ? null : (
        <p class="quiet source">
          {words.copiedFrom} <a href={authorPath(source.author)}>@{source.author}</a> ·{' '}
          <Link to={new URL(source.url).pathname} dir="auto" text={source.title} />
        </p>
      )}
      <Done
        words={words}
        query={query}
        sent={sent}
        hints={undone ? null : takeHints(request)}
        baseUrl={site.baseUrl}
        visibility={isOwn ? item.visibility : null}
      >
        {undone ? <UndoRestore site={site} path={path} undone={undone} /> : null}
      </Done>
      <Fault sent={sent} words={words} />
      {standing === null || blockedBy === null ? null : (
        <p class="notice">
          {words.findings.blockedNewest(standing.version, blockedBy.join(', '), standing.servedVersion)}{' '}
          <a href={`${path}/check`}>{words.findings.seeFindings}</a> ·{' '}
          <a href={`${path}/versions/${standing.version}`}>{words.reading.version(standing.version)}</a>
        </p>
      )}
      <div class="item-actions">
        {first}
        <ItemActions
          site={site}
          item={{ path, url: item.url, visibility: item.visibility }}
          standing={standing}
          usedBy={usedBy.length}
          highFindings={check?.high}
        />
      </div>
    </header>
  )
}

interface ItemTitleProps {
  readonly site: Site
  readonly title: string
  /** null shows no badge */
  readonly visibility: Visibility | null
  /** The team that owns it. */
  readonly team: string | null
}

/** A title with the owning team and the visibility. */
export const ItemTitle: FC<ItemTitleProps> = ({ site: { words }, title, visibility, team }) => (
  <div class="titled">
    <h1 dir="auto">{title}</h1>
    {team === null ? null : <Link to={`/@${team}`} look="team quiet" text={words.teamNamed(team)} />}
    {visibility === null ? null : (
      <span class={`badge is-${visibility}`} title={nameVisibility(words, visibility, team)}>
        {words.visibilities[visibility]}
      </span>
    )}
  </div>
)

/** The description of an item; a long one is folded. */
export const Lead: FC<{ text: string | null }> = ({ text }) => {
  if (text === null) return null
  return text.length <= LONG_LEAD ? (
    <p class="lead" dir="auto">
      {text}
    </p>
  ) : (
    <details class="lead">
      <summary dir="auto">
        <span>{text}</span>
      </summary>
    </details>
  )
}

const restored = z.object({ restored: z.number().int(), before: z.number().int(), lostCategory: z.string().nullable() })

/** A restored version, and the one that was the newest before it. */
export type Restored = z.infer<typeof restored>

/** The version that the form before restored; null for none. */
function takeRestored({ query, takeFlash }: PageRequest): Restored | null {
  return query.get('done') === 'version-restored' ? takeFlash(restored) : null
}

/** Says what could not be restored, and takes a restore back, unless there is a newer version by then. */
const UndoRestore: FC<{ site: Site; path: string; undone: Restored }> = ({ site: { words }, path, undone }) => (
  <>
    {undone.lostCategory === null ? null : `${words.reading.lostCategory(undone.lostCategory)} `}
    <ActionButton
      action={`${path}/versions/${undone.before}`}
      does="restore"
      class="link"
      values={{ baseVersion: String(undone.restored) }}
      text={words.undo}
    />
  </>
)

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
