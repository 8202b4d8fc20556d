import { decodeText } from '../domain/skills/skill.ts'

/** Least share of characters that show in a text of an older encoding. */
const MIN_SHOWN = 0.9

/** A text of any encoding that programs run: UTF-8, UTF-16 with its mark, and one byte a character. Null for other bytes. */
export function readText(bytes: Uint8Array): string | null {
  const decoded = decodeText(bytes)
  if (decoded !== null && !decoded.includes('\0')) return decoded
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  const shown = bytes.reduce(
    (count, byte) => count + (byte === 9 || byte === 10 || byte === 13 || (byte >= 0x20 && byte !== 0x7f) ? 1 : 0),
    0,
  )
  if (bytes.length === 0 || shown / bytes.length < MIN_SHOWN || bytes.subarray(0, 4).includes(0)) return null
  return new TextDecoder('windows-1252').decode(bytes).replaceAll('\0', ' ')
}

/** Characters that show nothing, which are passed over when words are looked for, as a class of a pattern. */
export const INVISIBLE =
  '\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0'
const SHOWS_NOTHING = new RegExp(`[${INVISIBLE}]|\\u{e0001}|[\\u{e0100}-\\u{e01ef}]`, 'u')
/** Letters of other scripts that look as Latin ones (Unicode, confusables.txt: those of Greek and Cyrillic with the same shape). */
const LOOK_ALIKES = new Map(
  'аaеeоoрpсcхxуyіiјjѕsһhԁdԛqԝwмmтtнhкkвbАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSοoαaνvρpτtυuιiκkΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX'
    .match(/../gu)
    ?.map((pair) => [pair[0] ?? '', pair[1] ?? ''] as const),
)
/** Characters that do not show as what they are: those above, controls, pairs of surrogates, and compatibility forms. */
const UNUSUAL = new RegExp(
  `[\\ud800-\\udbff][\\udc00-\\udfff]|[\\u0001-\\u0008\\u000b\\u000e-\\u001f\\u007f\\u0085\\u2028\\u2029${INVISIBLE}${[...LOOK_ALIKES.keys()].join('')}\\uff01-\\uffff]|\\r(?!\\n)`,
  'g',
)
/** Tag characters spell ASCII that nobody sees. */
const TAG_FIRST = 0xe0020
const TAG_LAST = 0xe007e

/** Whether each character of a text shows as what it is. */
export function isPlain(text: string): boolean {
  return text.search(UNUSUAL) < 0
}

/** A character as readers see it. */
function show(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code >= TAG_FIRST && code <= TAG_LAST) return String.fromCharCode(code - 0xe0000)
  if (SHOWS_NOTHING.test(character)) return ''
  // Styled, full-width and accented forms: compatibility forms of one character that are as long as it.
  const folded = code >= 0xff01 ? character.normalize('NFKC') : character
  return LOOK_ALIKES.get(character) ?? (folded.length <= character.length ? folded : character)
}

/** A text as its readers see it, and the place that each of its characters has in the text; null where it is the same. */
export function toPlain(text: string): { plain: string; places: Uint32Array } | null {
  const others = text
    .matchAll(UNUSUAL)
    .map(({ 0: character, index }) => ({ character, index, shown: show(character) }))
    .filter(({ character, shown }) => shown !== character)
    .toArray()
  if (others.length === 0) return null
  const places = new Uint32Array(text.length + 1)
  const parts: string[] = []
  let [length, end] = [0, 0]
  for (const { character, index, shown } of [...others, { character: '', index: text.length, shown: '' }]) {
    parts.push(text.slice(end, index), shown)
    for (let at = end; at < index; at++) places[length++] = at
    for (let letter = 0; letter < shown.length; letter++) places[length++] = index
    end = index + character.length
  }
  places[length] = text.length
  return { plain: parts.join(''), places }
}
