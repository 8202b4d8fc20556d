import { shareOnce } from '../../cache/shared-records.ts'
import { isHighSurrogate } from '../../domain/text/characters.ts'
import { escapeControlsInJson, escapedLength } from '../../domain/text/controls.ts'

/** A record with a text in it that may be cut. */
interface WithContent {
  readonly content: string
  readonly contentTruncated?: boolean | undefined
}

const MARK = JSON.stringify({ contentTruncated: true }).length - 1

/** Length of a value as JSON in an answer to a model, where control characters are escaped. */
export function jsonCharacters(value: unknown): number {
  return escapeControlsInJson(JSON.stringify(value)).length
}

const measure = shareOnce((record: WithContent, _: null) => {
  const content = jsonCharacters(record.content) - 2
  return { content, rest: jsonCharacters(record) - content }
})

/**
 * Cuts the contents of records so that an answer with all of them fits: short contents stay whole, and the others share the room that is
 * left equally. Where even empty contents are too long together, the answer is longer than the budget: no record is left out.
 * @param around characters of the answer beside the records
 * @param budget characters of the answer as JSON
 * @param cut how a content is cut to a length as JSON. Default: {@link cutJsonText}
 */
export function fitContents<T extends WithContent>(
  records: readonly T[],
  around: number,
  budget: number,
  cut: (record: T, characters: number) => string = ({ content }, characters) => cutJsonText(content, characters),
): (T | (T & { contentTruncated: true }))[] {
  const lengths = records.map((record) => measure(record, null))
  const rest = lengths.reduce((sum, one) => sum + one.rest, around)
  if (rest + lengths.reduce((sum, one) => sum + one.content, 0) <= budget) return [...records]
  const share = fairShare(
    lengths.map(({ content }) => content),
    budget - rest,
  )
  return records.map((record, place) => {
    const { content = 0 } = lengths[place] ?? {}
    if (content <= share) return record
    // A record that says already that it was cut takes no more room for saying so.
    const room = record.contentTruncated ? share : share - MARK
    return { ...record, content: room > 0 ? cut(record, room) : '', contentTruncated: true as const }
  })
}

/** The length up to which texts of these lengths may be kept, so that they take at most `room` together (max-min fairness). */
function fairShare(lengths: readonly number[], room: number): number {
  let left = Math.max(0, room)
  for (const [place, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (lengths.length - place))
    if (length > share) return share
    left -= length
  }
  return Number.POSITIVE_INFINITY
}

/** The longest beginning of a text that takes at most `characters` as JSON, without the quotes. */
export function cutJsonText(text: string, characters: number): string {
  let left = characters
  let end = 0
  while (end < text.length) {
    left -= escapedLength(text.charCodeAt(end))
    if (left < 0) break
    end++
  }
  // Half of a pair is no character.
  return text.slice(0, end > 0 && end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end)
}
