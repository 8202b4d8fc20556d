import { isSharedVersion } from '../../../domain/items/labels.ts'
import type { Visibility } from '../../../domain/items/visibility.ts'
import { countChangedLines } from '../../../domain/text/text-diff.ts'
import { AppError } from '../../../errors.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { getVersion, listVersions } from '../../../operations/items/item-page.ts'
import { listLabels } from '../../../operations/items/labels.ts'
import { showPrompt } from '../../../operations/prompts/get-prompt.ts'
import { getSkill } from '../../../operations/skills/get-skill.ts'
import { CompareVersions, readNewestVersions } from '../../parts/changes.tsx'
import { Link, LinkItem, LinkLine } from '../../parts/controls.tsx'
import { Ago } from '../../parts/facts.tsx'
import { blockedVersionOf, mayDo, readStanding, teamOf } from '../../parts/item-actions.tsx'
import { TitledPage } from '../../parts/page-frames.tsx'
import type { PageRequest } from '../../request.ts'
import type { Words } from '../../site.ts'
import { LabelNames, Labels } from '../writing/labels.tsx'

/** Characters of texts that a page of versions compares; what is older goes without. */
const MAX_COMPARED = 500_000

/** How many lines of text each version of a prompt adds to the one below it in the list, and takes from it. */
async function countLines({ call, ref }: PageRequest, versions: readonly { readonly version: number }[]) {
  const counts = new Map<number, { added: number; removed: number }>()
  let left = MAX_COMPARED
  let newer: { version: number; content: string } | null = null
  for (const { version } of versions) {
    const { content } = await call(getVersion, { collection: 'prompts', id: ref, version })
    left -= content?.length ?? left
    if (content === null || left < 0) break
    if (newer) counts.set(newer.version, countChangedLines(content, newer.content))
    newer = { version, content }
  }
  return counts
}

/** Versions of one page. */
const PER_PAGE = 50

/** Prompts and skills alike, as addresses name them. */
export type Collection = 'prompts' | 'skills'

/** The item of a page about versions. @throws AppError `not_found` */
export async function readItem(
  { call, ref }: PageRequest,
  collection: Collection,
): Promise<{ title: string; path: string; visibility: Visibility }> {
  const { title, url, visibility } = collection === 'prompts' ? await call(showPrompt, { id: ref }) : await call(getSkill, { id: ref })
  return { title, path: new URL(url).pathname, visibility }
}

/** A number of a version out of an address. @throws AppError `not_found` when it is none */
export function readVersionNumber(text: string, words: Words): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new AppError('not_found', words.errors.noVersion)
  return Number(text)
}

/**
 * An item's versions, newest first, a page at a time. The form to compare two of them leads here too, and on to the newer one.
 * @throws AppError `not_found`
 */
export function showVersions(collection: Collection) {
  return async (request: PageRequest) => {
    const { site, words, call, ref, query } = request
    const before = query.has('before') ? readVersionNumber(query.get('before') ?? '', site.words) : undefined
    const [item, newest, { versions, nextBefore }] = await Promise.all([
      readItem(request, collection),
      readNewestVersions(request, collection),
      call(listVersions, { collection, id: ref, limit: PER_PAGE, ...(before === undefined ? {} : { before }) }),
    ])
    if (query.has('from') && query.has('to')) {
      const from = readVersionNumber(query.get('from') ?? '', site.words)
      const to = readVersionNumber(query.get('to') ?? '', site.words)
      return { to: `${item.path}/versions/${Math.max(from, to)}?against=${Math.min(from, to)}` }
    }
    const counts = collection === 'prompts' ? await countLines(request, versions) : new Map()
    const standing = await readStanding(request, collection, ref)
    const shown = await call(listLabels, { collection, id: ref })
    const mayMove = mayDo(standing, 'edit')
    const targets = new Set(shown.labels.flatMap((label) => label.targets.map(({ version }) => version)))
    const blocked = blockedVersionOf(standing)
    const unseen = mayDo(standing, 'see')
      ? newest.filter(
          ({ version, visibility }) =>
            version !== blocked &&
            targets.has(version) &&
            !isSharedVersion({ number: version, visibility }, { newest: standing?.servedVersion ?? 0, visibility: item.visibility }),
        )
      : []
    const hasOlder = mayDo(standing, 'delete') && standing !== null && standing.version > 1
    return (
      <TitledPage
        request={request}
        title={words.reading.versionsOf(item.title)}
        heading={words.versions}
        above={<a href={item.path}>{item.title}</a>}
      >
        <CompareVersions site={site} path={item.path} versions={newest} from={newest[1]?.version ?? 1} to={newest[0]?.version ?? 1} />
        {versions.length === 0 ? (
          <p class="quiet">{words.reading.noVersions}</p>
        ) : (
          <VersionRows
            path={item.path}
            versions={versions}
            counts={counts}
            labels={shown.labels}
            newest={newest[0]?.version ?? 0}
            blocked={blocked}
            words={words}
          />
        )}
        {before === undefined && nextBefore === null ? null : (
          <nav class="pages" aria-label={words.pages}>
            {before === undefined ? null : <a href={`${item.path}/versions`}>{words.reading.newestVersions}</a>}
            {nextBefore === null ? null : (
              <Link to={`${item.path}/versions?before=${nextBefore}`} rel="next" text={words.reading.olderVersions} />
            )}
          </nav>
        )}
        {blocked !== null && targets.has(blocked) ? (
          <p class="notice">
            {words.findings.blockedLabel(blocked)} <a href={`${item.path}/check`}>{words.findings.seeFindings}</a>
          </p>
        ) : null}
        <Labels
          request={request}
          path={item.path}
          shown={shown}
          versions={newest}
          unseen={unseen.map(({ version }) => version)}
          mayMove={mayMove}
          team={teamOf(standing)}
        />
        {hasOlder ? <LinkLine to={`${item.path}/purge`} look="button quiet" text={words.purge.history} /> : null}
      </TitledPage>
    )
  }
}

const VersionRows = ({
  path,
  versions,
  counts,
  labels,
  newest,
  blocked,
  words,
}: {
  path: string
  labels: Output<typeof listLabels>['labels']
  versions: Output<typeof listVersions>['versions']
  counts: Awaited<ReturnType<typeof countLines>>
  newest: number
  blocked: number | null
  words: PageRequest['site']['words']
}) => (
  <ol class="rows whole">
    {versions.map(({ version, note, author, createdAt }) => (
      <li>
        <h2>
          <a href={`${path}/versions/${version}`}>{words.reading.version(version)}</a>
        </h2>
        {note === null ? null : <p>{note}</p>}
        <ul class="facts line">
          {version === newest ? <li>{words.reading.newest}</li> : null}
          {version === blocked ? <LinkItem to={`${path}/check`} look="state" text={words.findings.blocked} /> : null}
          <LabelNames labels={labels} version={version} />
          {counts.has(version) ? <li>{words.reading.lines(counts.get(version)?.added ?? 0, counts.get(version)?.removed ?? 0)}</li> : null}
          <li>{author}</li>
          <li>
            <Ago words={words} at={createdAt} hasTime />
          </li>
          {version < newest ? (
            <LinkItem to={`${path}/versions/${newest}?against=${version}`} rel="nofollow" text={words.reading.compareWithNewest} />
          ) : null}
        </ul>
      </li>
    ))}
  </ol>
)
