import { setImmediate } from 'node:timers/promises'
import type { Child, FC } from 'hono/jsx'
import { type DiffPiece, diffByLines, diffTexts } from '../../../library/text-diff.ts'
import type { Output } from '../../../operations/core/define-operation.ts'
import { getVersion, listVersions, restoreVersion } from '../../../operations/items/versions.ts'
import { Layout } from '../../layout.tsx'
import { type FieldChange, FieldChanges, LineChanges, WordChanges } from '../../parts/changes.tsx'
import { Day } from '../../parts/day.tsx'
import { ActionButton } from '../../parts/field.tsx'
import { readStanding } from '../../parts/item-actions.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'
import { type Collection, readItem, readVersionNumber } from './versions.tsx'

type Shown = Output<typeof getVersion>
type File = NonNullable<Shown['files']>[number]

/** Longest file that is compared, in UTF-16 units. */
const MAX_COMPARED = 300_000
/** Time after which the files that are left are named only, each a link away. */
const COMPARE_MS = 300
/** How much of a text a page shows, in UTF-16 units. */
const MAX_SHOWN = 200_000

/** Everything a page of one version is made from. */
interface Versions {
  readonly item: { readonly title: string; readonly path: string }
  readonly shown: Shown
  /** What it is compared with; null when there is nothing. */
  readonly against: Shown | null
  /** Path of this page. */
  readonly path: string
  /** Whether the reader may write this version again: the owner, when it is not the newest. */
  readonly canRestore: boolean
}

async function readVersions(request: PageRequest, collection: Collection): Promise<Versions> {
  const { call, ref, query } = request
  const number = readVersionNumber(request.param('version'))
  const find = (version: number) => call(getVersion, { collection, id: ref, version })
  const [item, shown] = await Promise.all([readItem(request, collection), find(number)])
  const named = query.get('against')
  const earlier = named
    ? readVersionNumber(named)
    : (await call(listVersions, { collection, id: ref, before: number, limit: 1 })).versions[0]?.version
  const against = earlier === undefined || (number === 1 && !named) ? null : await find(earlier)
  const standing = await readStanding(request, collection, ref)
  const canRestore = standing?.isOwner === true && standing.version !== number
  return { item, shown, against, path: `${item.path}/versions/${number}`, canRestore }
}

/** One version of a prompt: what changed since the one before, or the text alone. */
export async function showPromptVersion(request: PageRequest) {
  const versions = await readVersions(request, 'prompts')
  const { site, query } = request
  const { shown, against } = versions
  const { words } = site
  const text = shown.content ?? ''
  const isPlain = against === null || query.get('view') === 'text'
  const pieces = isPlain ? [] : diffTexts(against.content ?? '', text)
  return (
    <VersionPage site={site} collection="prompts" versions={versions} isPlain={isPlain}>
      {!isPlain && pieces.every(({ kind }) => kind === 'same') ? <p class="quiet">{words.reading.noChanges}</p> : null}
      <div class={shown.type === 'STRUCTURED' ? 'text code' : 'text'} tabindex={shown.type === 'STRUCTURED' ? 0 : undefined}>
        {isPlain ? text.slice(0, MAX_SHOWN).toWellFormed() : <WordChanges pieces={pieces} />}
      </div>
    </VersionPage>
  )
}

interface FileChange {
  readonly filename: string
  readonly kind: 'fileAdded' | 'fileRemoved' | 'fileChanged'
  /** `binary`: no text; `large`: too long; `later`: its page of its own shows it. */
  readonly pieces: readonly DiffPiece[] | 'binary' | 'large' | 'later'
}

/** One version of a skill: which files came, went and changed, and how. */
export async function showSkillVersion(request: PageRequest) {
  const versions = await readVersions(request, 'skills')
  const { site, query } = request
  const { shown, against, path } = versions
  const { words } = site
  const only = query.get('file')
  const files = shown.files ?? []
  const changes = await compareFiles(against?.files ?? [], files, only)
  const same = files.length - changes.filter(({ kind }) => kind !== 'fileRemoved').length
  const search = (filename: string) =>
    new URLSearchParams({ ...(query.get('against') ? { against: query.get('against') ?? '' } : {}), file: filename })
  return (
    <VersionPage site={site} collection="skills" versions={versions} isPlain={against === null}>
      {changes.length === 0 ? <p class="quiet">{words.reading.noFileChanges}</p> : null}
      {changes.map(({ filename, kind, pieces }) => (
        <section>
          <h2 class="filename">
            {filename} <span class="kind">{words.reading[kind]}</span>
          </h2>
          {pieces === 'binary' ? <p class="quiet">{words.reading.binaryChange}</p> : null}
          {pieces === 'large' ? <p class="quiet">{words.reading.tooLarge}</p> : null}
          {pieces === 'later' ? (
            <p>
              <a href={`${path}?${search(filename)}`}>{words.reading.compareAlone}</a>
            </p>
          ) : null}
          {typeof pieces === 'string' ? null : <LineChanges site={site} pieces={pieces} />}
        </section>
      ))}
      {only === null ? (
        same > 0 && against !== null ? (
          <p class="quiet">{words.reading.fileSame(same)}</p>
        ) : null
      ) : (
        <p>
          <a href={path}>{words.reading.allFiles}</a>
        </p>
      )}
    </VersionPage>
  )
}

/** The files that differ, compared one after the other, with a breath for other requests between. */
async function compareFiles(before: readonly File[], after: readonly File[], only: string | null): Promise<FileChange[]> {
  const old = new Map(before.map((file) => [file.filename, file]))
  const fresh = new Map(after.map((file) => [file.filename, file]))
  const names = [...new Set([...fresh.keys(), ...old.keys()])].filter((name) => only === null || name === only)
  const changes: FileChange[] = []
  const started = performance.now()
  for (const filename of names) {
    const was = old.get(filename)
    const is = fresh.get(filename)
    if (was && is && was.content === is.content && was.encoding === is.encoding) continue
    const kind = was === undefined ? 'fileAdded' : is === undefined ? 'fileRemoved' : 'fileChanged'
    const isText = was?.encoding === undefined && is?.encoding === undefined
    const length = (was?.content.length ?? 0) + (is?.content.length ?? 0)
    const isLate = performance.now() - started > COMPARE_MS
    const pieces = !isText
      ? 'binary'
      : length > MAX_COMPARED
        ? 'large'
        : isLate
          ? 'later'
          : diffByLines(was?.content.toWellFormed() ?? '', is?.content.toWellFormed() ?? '')
    changes.push({ filename, kind, pieces })
    await setImmediate()
  }
  return changes
}

interface VersionPageProps {
  readonly site: Site
  readonly collection: Collection
  readonly versions: Versions
  readonly isPlain: boolean
  readonly children?: Child
}

const VersionPage: FC<VersionPageProps> = ({ site, collection, versions, isPlain, children }) => {
  const { words } = site
  const { item, shown, against, path, canRestore } = versions
  return (
    <Layout site={site} title={words.reading.versionOf(shown.version, item.title)} current={collection} isIndexed={false}>
      <p class="quiet">
        <a href={item.path}>{item.title}</a> / <a href={`${item.path}/versions`}>{words.versions}</a>
      </p>
      <h1>{words.reading.version(shown.version)}</h1>
      <p class="quiet">
        <Day at={shown.createdAt} />, {words.reading.versionLead(shown.author)}
      </p>
      {shown.note === null ? null : <p class="lead">{shown.note}</p>}
      {against === null ? null : (
        <form class="compare" method="get" action={path}>
          <label for="against">{words.reading.compareWith}</label>
          <input id="against" type="text" inputmode="numeric" pattern="[0-9]+" name="against" value={String(against.version)} size={4} />
          <button class="button" type="submit">
            {words.reading.compare}
          </button>
        </form>
      )}
      {against === null ? (
        <p class="quiet">{words.reading.noEarlier}</p>
      ) : (
        <>
          {collection === 'skills' ? null : (
            <ul class="filters">
              <li>
                <a href={`${path}?against=${against.version}`} aria-current={isPlain ? undefined : 'true'}>
                  {words.reading.changesSince(against.version)}
                </a>
              </li>
              <li>
                <a href={`${path}?view=text`} aria-current={isPlain ? 'true' : undefined}>
                  {words.reading.showText}
                </a>
              </li>
            </ul>
          )}
          {isPlain ? null : <FieldChanges fields={compareFields(site, against, shown)} />}
        </>
      )}
      {children}
      {canRestore ? (
        <p>
          <ActionButton action={path} does="restore">
            {words.reading.restoreVersion}
          </ActionButton>{' '}
          <a class="button" href={`${item.path}/purge?first=${shown.version}&last=${shown.version}`}>
            {words.purge.link}
          </a>
        </p>
      ) : null}
    </Layout>
  )
}

/** Changed fields other than the text. */
function compareFields({ words }: Site, before: Shown, after: Shown): FieldChange[] {
  const { fields } = words.reading
  return [
    { label: fields.title, before: before.title, after: after.title },
    { label: fields.description, before: before.description, after: after.description },
    { label: fields.category, before: before.categorySlug, after: after.categorySlug },
    { label: fields.tags, before: before.tags.join(', '), after: after.tags.join(', ') },
    { label: fields.type, before: before.type, after: after.type },
  ]
}

/** Writes a version again, as the newest. */
export function submitRestore(collection: Collection): Action {
  return async ({ call, ref, param }) => {
    await call(restoreVersion, { collection, id: ref, version: readVersionNumber(param('version')) })
    return { to: `/${collection}/${encodeURIComponent(ref)}?done=version-restored` }
  }
}
