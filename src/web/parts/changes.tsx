import type { FC } from 'hono/jsx'
import { type DiffBlock, type DiffPiece, diffTexts, toDiffBlocks } from '../../domain/text/text-diff.ts'
import type { Site } from '../site.ts'
import { Details } from './controls.tsx'

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
        <div>
          <dt>{label}</dt>
          <dd>
            <WordChanges pieces={diffTexts(before ?? '', after ?? '')} />
          </dd>
        </div>
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
