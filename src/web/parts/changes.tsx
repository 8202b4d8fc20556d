import type { FC } from 'hono/jsx'
import { type DiffPiece, diffTexts, toDiffLines } from '../../library/text-diff.ts'
import type { Site } from '../site.ts'

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

/** What changed, line by line, each with its sign; long stretches that stayed are left out. */
export const LineChanges: FC<{ site: Site; pieces: readonly DiffPiece[] }> = ({ site: { words }, pieces }) => {
  const lines = toDiffLines(pieces, AROUND)
  return (
    <>
      <pre class="lines" tabindex={0}>
        {lines.slice(0, MAX_LINES).map((line) => {
          if (line.kind === 'left-out') return <span class="quiet">{`  ${words.reading.unchangedLines(line.lines)}\n`}</span>
          if (line.kind === 'added') return <ins>{`+ ${line.text}\n`}</ins>
          if (line.kind === 'removed') return <del>{`- ${line.text}\n`}</del>
          return `  ${line.text}\n`
        })}
      </pre>
      {lines.length > MAX_LINES ? <p class="quiet">{words.reading.moreChanges}</p> : null}
    </>
  )
}
