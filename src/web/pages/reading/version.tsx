import { setImmediate } from 'node:timers/promises'
import type { Child, FC } from 'hono/jsx'
import { compareConfigs } from '../../../domain/prompts/config.ts'
import { type DiffPiece, diffByLines, diffTexts, diffWholeLines } from '../../../domain/text/text-diff.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { getVersion, listVersions, restoreVersion } from '../../../operations/items/item-page.ts'
import { showMarks } from '../../../operations/items/marks.ts'
import { Layout } from '../../layout.tsx'
import { CompareVersions, type FieldChange, FieldChanges, LineChanges, readNewestVersions, WordChanges } from '../../parts/changes.tsx'
import { Link, LinkItem, LinkLine } from '../../parts/controls.tsx'
import { Ago } from '../../parts/facts.tsx'
import { ActionButton, Fault } from '../../parts/field.tsx'
import { blockedVersionOf, mayDo, readStanding } from '../../parts/item-actions.tsx'
import type { Restored } from '../../parts/item-head.tsx'
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
type Versions = Awaited<ReturnType<typeof readVersions>>

async function readVersions(request: PageRequest, collection: Collection) {
  const { site, call, ref, query } = request
  const number = readVersionNumber(request.param('version'), site.words)
  const find = (version: number) => call(getVersion, { collection, id: ref, version })
  const [item, shown, newest] = await Promise.all([readItem(request, collection), find(number), readNewestVersions(request, collection)])
  const named = query.get('against')
  const earlier = named
    ? readVersionNumber(named, site.words)
    : (await call(listVersions, { collection, id: ref, before: number, limit: 1 })).versions[0]?.version
  const against = earlier === undefined || (number === 1 && !named) ? null : await find(earlier)
  const standing = await readStanding(request, collection, ref)
  const canRestore = mayDo(standing, 'edit') && standing?.version !== number
  // What the page shows can be chosen again, however old it is.
  const others = [shown, against].filter((one) => one !== null && newest.every(({ version }) => version !== one.version))
  const choices = [...newest, ...others.filter((one) => one !== null)].sort((one, other) => other.version - one.version)
  return {
    item,
    shown,
    /** The version it is compared with; null for none. */
    against,
    /** Those to choose from, newest first. */
    choices,
    path: `${item.path}/versions/${number}`,
    /** Whether the reader may write this version again: the owner, when it is not the newest. */
    canRestore,
    isBlocked: blockedVersionOf(standing) === number,
  }
}

/** One version of a prompt: what changed since the one before, or the text alone. */
export async function showPromptVersion(request: PageRequest) {
  const versions = await readVersions(request, 'prompts')
  const { site, words, query } = request
  const { shown, against } = versions
  const text = shown.content ?? ''
  const view = against === null || query.get('view') === 'text' ? 'text' : query.get('view') === 'lines' ? 'lines' : 'words'
  const before = against?.content ?? ''
  const pieces = view === 'text' ? [] : view === 'lines' ? diffWholeLines(before, text) : diffTexts(before, text)
  return (
    <VersionPage request={request} collection="prompts" versions={versions} view={view}>
      {view !== 'text' && before === text ? <p class="quiet">{words.reading.noChanges}</p> : null}
      <FieldChanges
        fields={compareConfigs(against?.config ?? null, shown.config ?? null).map(({ key, ...change }) => ({
          label: `${words.reading.config}: ${key}`,
          ...change,
        }))}
      />
      {view === 'lines' ? (
        <LineChanges site={site} pieces={pieces} />
      ) : (
        <div class={shown.type === 'STRUCTURED' ? 'text code' : 'text'} tabindex={shown.type === 'STRUCTURED' ? 0 : undefined}>
          {view === 'text' ? text.slice(0, MAX_SHOWN).toWellFormed() : <WordChanges pieces={pieces} />}
        </div>
      )}
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
  const { site, words, query } = request
  const { shown, against, path } = versions
  const only = query.get('file')
  const files = shown.files ?? []
  const changes = await compareFiles(against?.files ?? [], files, only)
  const same = files.length - changes.filter(({ kind }) => kind !== 'fileRemoved').length
  const search = (filename: string) =>
    new URLSearchParams({ ...(query.get('against') ? { against: query.get('against') ?? '' } : {}), file: filename })
  return (
    <VersionPage request={request} collection="skills" versions={versions} view={against === null ? 'text' : 'lines'}>
      {changes.length === 0 ? <p class="quiet">{words.reading.noFileChanges}</p> : null}
      {changes.map(({ filename, kind, pieces }) => (
        <section>
          <h2 class="filename">
            {filename} <span class="kind">{words.reading[kind]}</span>
          </h2>
          {pieces === 'binary' ? <p class="quiet">{words.reading.binaryChange}</p> : null}
          {pieces === 'large' ? <p class="quiet">{words.reading.tooLarge}</p> : null}
          {pieces === 'later' ? <LinkLine to={`${path}?${search(filename)}`} text={words.reading.compareAlone} /> : null}
          {typeof pieces === 'string' ? null : <LineChanges site={site} pieces={pieces} />}
        </section>
      ))}
      {only === null ? (
        same > 0 && against !== null ? (
          <p class="quiet">{words.reading.fileSame(same)}</p>
        ) : null
      ) : (
        <LinkLine to={path} text={words.reading.allFiles} />
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

/** How a page shows a version: its text, or what changed by words or by lines. */
type View = 'text' | 'words' | 'lines'

interface VersionPageProps {
  readonly request: PageRequest
  readonly collection: Collection
  readonly versions: Versions
  readonly view: View
  readonly children?: Child
}

const VersionPage: FC<VersionPageProps> = ({ request: { site, words, sent }, collection, versions, view, children }) => {
  const { item, shown, against, choices, path, canRestore, isBlocked } = versions
  const newest = choices[0]?.version ?? shown.version
  return (
    <Layout site={site} title={words.reading.versionOf(shown.version, item.title)} styles={['changes.css']}>
      <p class="quiet">
        <a href={item.path}>{item.title}</a> / <a href={`${item.path}/versions`}>{words.versions}</a>
      </p>
      <h1>{words.reading.version(shown.version)}</h1>
      <p class="quiet">
        <Ago words={words} at={shown.createdAt} hasTime />, {words.reading.versionLead(shown.author)}
      </p>
      {shown.note === null ? null : <p class="lead">{shown.note}</p>}
      <Fault sent={sent} words={words} />
      {isBlocked ? (
        <p class="notice">
          {words.findings.blockedVersion} <a href={`${item.path}/check`}>{words.findings.seeFindings}</a>
        </p>
      ) : null}
      {shown.version < newest || canRestore ? (
        <div class="version-actions">
          {canRestore ? <ActionButton action={path} does="restore" class="button first" text={words.reading.restoreVersion} /> : null}
          {shown.version < newest ? (
            <Link
              to={`${item.path}/versions/${newest}?against=${shown.version}`}
              look="button quiet"
              rel="nofollow"
              text={words.reading.compareWithNewest}
            />
          ) : null}
          {canRestore ? (
            <Link to={`${item.path}/purge?first=${shown.version}&last=${shown.version}`} look="button quiet" text={words.deleteForGood} />
          ) : null}
        </div>
      ) : null}
      <CompareVersions site={site} path={item.path} versions={choices} from={against?.version ?? newest} to={shown.version} />
      {against === null ? null : (
        <>
          {collection === 'skills' ? null : <Views site={site} path={path} against={against.version} view={view} />}
          {view === 'text' ? null : <FieldChanges fields={compareFields(site, against, shown)} />}
        </>
      )}
      {children}
    </Layout>
  )
}

const Views: FC<{ site: Site; path: string; against: number; view: View }> = ({ site: { words }, path, against, view }) => (
  <ul class="filters">
    {(
      [
        ['words', '', words.reading.changesSince(against)],
        ['lines', '&view=lines', words.reading.byLines],
        ['text', '&view=text', words.reading.showText],
      ] as const
    ).map(([name, query, label]) => (
      <LinkItem to={`${path}?against=${against}${query}`} rel="nofollow" current={view === name && 'true'} text={label} />
    ))}
  </ul>
)

/** Changed fields other than the text. */
function compareFields({ words }: Site, before: Shown, after: Shown): FieldChange[] {
  return [
    { label: words.title, before: before.title, after: after.title },
    { label: words.description, before: before.description, after: after.description },
    { label: words.category, before: before.categorySlug, after: after.categorySlug },
    { label: words.tags, before: before.tags.join(', '), after: after.tags.join(', ') },
    { label: words.type, before: before.type, after: after.type },
  ]
}

/** Writes a version again, as the newest, and leaves the item's page what takes it back. A base version is that of the page it was asked on. */
export function submitRestore(collection: Collection): Action {
  return async ({ site, call, form, ref, param }) => {
    const base = form.text('baseVersion')
    const before = (await call(showMarks, { collection, id: ref })).version
    const { version, lostCategory = null } = await call(restoreVersion, {
      collection,
      id: ref,
      version: readVersionNumber(param('version'), site.words),
      ...(base === '' ? {} : { baseVersion: readVersionNumber(base, site.words) }),
    })
    const to = `/${collection}/${encodeURIComponent(ref)}?done=version-restored`
    return { to, ...(version === before ? {} : { flash: { restored: version, before, lostCategory } satisfies Restored }) }
  }
}
