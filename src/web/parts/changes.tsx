import type { FC } from 'hono/jsx'
import { type DiffBlock, type DiffPiece, diffTexts, toDiffBlocks } from '../../domain/text/text-diff.ts'
import type { Output } from '../../operations/core/procedure.ts'
import { listVersions } from '../../operations/items/item-page.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { formatsOf } from '../strings/formats.ts'
import { Details, Options, Submit } from './controls.tsx'
import { Fact } from './facts.tsx'

/** Unchanged lines shown around a change. */
const AROUND = 3
/** Lines of one comparison on a page. */
const MAX_LINES = 2000

/** A text with what came and went in it. */
export const WordChanges: FC<{ pieces: readonly DiffPiece[] }> = ({ pieces }) => (
  <>{pieces.map(({ kind, text }) => (kind === 'same' ? text : kind === 'added' ? <ins>{text}</ins> : <del>{text}</del>))}</>
)

/** A field that has another value in one of two states of an item. */
export interface FieldChange {
  readonly label: string
  readonly before: string | null
  readonly after: string | null
}

/** The fields that differ, word by word; nothing when none does. */
export const FieldChanges: FC<{ fields: readonly FieldChange[] }> = ({ fields }) => {
  const changed = fields.filter(({ before, after }) => (before ?? '') !== (after ?? ''))
  return changed.length === 0 ? null : (
    <dl class="changed">
      {changed.map(({ label, before, after }) => (
        <Fact label={label}>
          <WordChanges pieces={diffTexts(before ?? '', after ?? '')} />
        </Fact>
      ))}
    </dl>
  )
}

/**
 * The changes line by line with numbers, in one column or, where there is room, in two. Unchanged stretches are folded; very long ones
 * are only counted.
 */
export const LineChanges: FC<{ site: Site; pieces: readonly DiffPiece[] }> = ({ site: { words }, pieces }) => {
  const { shown, isWhole } = limitBlocks(toDiffBlocks(pieces, AROUND))
  const isOneSided = pieces.every(({ kind }) => kind === 'added') || pieces.every(({ kind }) => kind === 'removed')
  return (
    <>
      <div class="lines">
        <div class={isOneSided ? undefined : 'sides'}>
          {shown.map((block) =>
            block.kind === 'counted' ? (
              <p class="quiet">{words.reading.unchangedLines(block.lines)}</p>
            ) : block.kind === 'left-out' ? (
              <Details summary={words.reading.unchangedLines(block.lines.length)}>
                <Unchanged block={block} />
              </Details>
            ) : block.kind === 'same' ? (
              <Unchanged block={block} />
            ) : (
              <div class="stretch">
                {block.removed.length === 0 ? null : (
                  <ol class="old" start={block.before}>
                    {block.removed.map((line) => (
                      <li>
                        <del>{line}</del>
                      </li>
                    ))}
                  </ol>
                )}
                {block.added.length === 0 ? null : (
                  <ol class="new" start={block.after}>
                    {block.added.map((line) => (
                      <li>
                        <ins>{line}</ins>
                      </li>
                    ))}
                  </ol>
                )}
              </div>
            ),
          )}
        </div>
      </div>
      {isWhole ? null : <p class="quiet">{words.reading.moreChanges}</p>}
    </>
  )
}

/** Lines of both texts; the older side is seen beside the newer one alone, and read out once. */
const Unchanged: FC<{ block: Extract<DiffBlock, { kind: 'same' | 'left-out' }> }> = ({ block }) => {
  const lines = block.lines.map((line) => <li>{line}</li>)
  return (
    <div class="stretch">
      <ol class="old" start={block.before} aria-hidden="true">
        {lines}
      </ol>
      <ol class="new" start={block.after}>
        {lines}
      </ol>
    </div>
  )
}

type ShownBlock = DiffBlock | { readonly kind: 'counted'; readonly lines: number }

/** The blocks of a page, at most {@link MAX_LINES} lines and as many folded ones. */
function limitBlocks(blocks: readonly DiffBlock[]): { shown: ShownBlock[]; isWhole: boolean } {
  const shown: ShownBlock[] = []
  let lines = 0
  let folded = 0
  for (const block of blocks) {
    if (block.kind === 'left-out') {
      folded += block.lines.length
      shown.push(folded <= MAX_LINES ? block : { kind: 'counted', lines: block.lines.length })
      continue
    }
    const left = MAX_LINES - lines
    if (block.kind === 'same') {
      lines += block.lines.length
      shown.push({ ...block, lines: block.lines.slice(0, left) })
    } else {
      const removed = block.removed.slice(0, left)
      shown.push({ ...block, removed, added: block.added.slice(0, left - removed.length) })
      lines += block.removed.length + block.added.length
    }
    if (lines > MAX_LINES) return { shown, isWhole: false }
  }
  return { shown, isWhole: true }
}

type Version = Output<typeof listVersions>['versions'][number]

/** Versions of one call. */
const PER_CALL = 100
/** Versions to choose from; older ones can be compared from their own pages. */
const MAX_CHOICES = 500

/** An item's newest versions that the reader can see, newest first, at most {@link MAX_CHOICES}. @throws AppError `not_found` */
export async function readNewestVersions({ call, ref }: PageRequest, collection: 'prompts' | 'skills'): Promise<Version[]> {
  const found: Version[] = []
  let before: number | undefined
  for (;;) {
    const page: Output<typeof listVersions> = await call(listVersions, {
      collection,
      id: ref,
      limit: PER_CALL,
      ...(before === undefined ? {} : { before }),
    })
    found.push(...page.versions)
    if (page.nextBefore === null || found.length >= MAX_CHOICES) return found
    before = page.nextBefore
  }
}

interface CompareVersionsProps {
  readonly site: Site
  /** Path of the item. */
  readonly path: string
  readonly versions: readonly Version[]
  readonly from: number
  readonly to: number
}

/** Two lists to choose two versions from; nothing while there is only one. */
export const CompareVersions: FC<CompareVersionsProps> = ({ site: { words }, path, versions, from, to }) => {
  const { moment } = formatsOf(words.language)
  const options = versions.map(({ version, createdAt }) => [`${version}`, words.reading.versionAt(version, moment(createdAt))] as const)
  return versions.length < 2 ? null : (
    <form class="compare" method="get" action={`${path}/versions`}>
      <Choices name="from" label={words.reading.compareFrom} options={options} chosen={from} />
      <Choices name="to" label={words.reading.compareTo} options={options} chosen={to} />
      <Submit text={words.reading.compare} />
    </form>
  )
}

type Names = readonly (readonly [value: string, name: string])[]

const Choices: FC<{ name: string; label: string; options: Names; chosen: number }> = ({ name, label, options, chosen }) => (
  <>
    <label for={`compare-${name}`}>{label}</label>
    <select id={`compare-${name}`} name={name}>
      <Options of={options} chosen={String(chosen)} />
    </select>
  </>
)
