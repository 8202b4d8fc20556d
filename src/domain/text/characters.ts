const HIGH_SURROGATE = /[\ud800-\udbff]/

export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Number of Unicode code points in `text` (what the limits call "characters"); a lone surrogate counts as one. */
export function countCharacters(text: string): number {
  // Most texts have none, and the engine finds that out many times as fast.
  if (!HIGH_SURROGATE.test(text)) return text.length
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (isHighSurrogate(unit)) {
      const next = text.charCodeAt(i + 1)
      if (next >= 0xdc00 && next <= 0xdfff) {
        count--
        i++
      }
    }
  }
  return count
}

/** Whether `text` has more than `limit` characters, in time bounded by the limit rather than by the text. */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  if (text.length > limit * 2) return true
  return countCharacters(text) > limit
}

/** The first `limit` characters of `text`, never splitting a surrogate pair. */
export function cutCharacters(text: string, limit: number): string {
  if (!isLongerThan(text, limit)) return text
  let end = 0
  for (let taken = 0; taken < limit; taken++) {
    const code = text.codePointAt(end)
    end += code !== undefined && code > 0xffff ? 2 : 1
  }
  return text.slice(0, end)
}

/**
 * `text` cut to at most `limit` characters at the end of a word, with `…` in the limit.
 * @example cutAtWord('one two three', 9) // 'one two…'
 */
export function cutAtWord(text: string, limit: number): string {
  if (!isLongerThan(text, limit)) return text
  const head = cutCharacters(text, limit - 1)
  const space = head.search(/\s\S*$/u)
  return `${(space > head.length / 2 ? head.slice(0, space) : head).trimEnd()}…`
}

/** Whether a text contains what cannot be stored: NUL, or an unpaired surrogate. */
export function hasForbiddenCharacter(text: string): 'NUL' | 'lone surrogate' | null {
  if (text.includes('\0')) return 'NUL'
  return text.isWellFormed() ? null : 'lone surrogate'
}

/** `text` with NUL and lone surrogates turned into spaces: how a query is read. */
export function blankForbiddenCharacters(text: string): string {
  return text.toWellFormed().replaceAll('\0', ' ').replaceAll('\ufffd', ' ')
}

/** Whether a text has nothing but white space (or nothing at all). */
export function isBlank(text: string): boolean {
  return !/\S/u.test(text)
}

/**
 * Control characters: they show nothing themselves, and change how a terminal, a reader or a model takes the text around them.
 * C0 and C1 but tab and line ends, and Unicode's bidirectional controls (UAX #9, section 2), with which a text reads otherwise than it is
 * (CVE-2021-42574, "Trojan Source").
 */
const ALONE = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069'
const CLASS = `[${ALONE}]|\\r(?!\\n)`
const CONTROL = new RegExp(CLASS, 'g')
const RUN = new RegExp(`(?:${CLASS})+`, 'g')
const ANY = new RegExp(CLASS)
/** Finds these and every carriage return. One class takes 60 % of the time, and most texts have none of them. */
const PERHAPS = new RegExp(`[${ALONE}\\r]`)
/** Those that JSON does not escape by itself. */
const RAW_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
/** Code points named of one run. */
const MAX_NAMED = 8

function toHex(control: string): string {
  return control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
}

/** Whether a text has a control character in it. */
export function hasControls(text: string): boolean {
  return PERHAPS.test(text) && ANY.test(text)
}

/** Marks of one text, and a placeholder for further ones, so that a text full of controls does not grow to many times its length. */
const MAX_MARKS = 200
const UNNAMED = '\ufffd'

/**
 * A text for places that hold nothing but text, its control characters replaced by visible marks. What is stored or copied stays as it is.
 * @example showControls('a\u202eb') // 'a⟨U+202E⟩b'
 */
export function showControls(text: string): string {
  if (!hasControls(text)) return text
  let marks = 0
  return text.replace(CONTROL, (control) => (marks++ < MAX_MARKS ? `⟨U+${toHex(control)}⟩` : UNNAMED))
}

/** A run of control characters, and how it is named: `202E`, or `202E 2066`. */
export interface ControlRun {
  readonly controls: string
  readonly name: string
}

/** Splits a text at runs of control characters: at most `limit` runs; in the rest each control character is replaced. */
export function splitControls(text: string, limit: number = MAX_MARKS): (string | ControlRun)[] {
  const pieces: (string | ControlRun)[] = []
  let end = 0
  let runs = 0
  for (const { 0: controls, index } of text.matchAll(RUN)) {
    if (runs++ >= limit) break
    if (index > end) pieces.push(text.slice(end, index))
    pieces.push({ controls, name: nameControls(controls) })
    end = index + controls.length
  }
  if (end < text.length || pieces.length === 0) pieces.push(text.slice(end).replace(CONTROL, UNNAMED))
  return pieces
}

/** How a run of control characters is named. */
function nameControls(controls: string): string {
  const named = Array.from(controls.slice(0, MAX_NAMED), toHex).join(' ')
  return controls.length > MAX_NAMED ? `${named} … (${controls.length})` : named
}

/** Equal JSON with control characters as escapes, for models. */
export function escapeControlsInJson(json: string): string {
  return json.replace(RAW_IN_JSON, (control) => `\\u${toHex(control).toLowerCase()}`)
}

/** How many UTF-16 units one unit of a well-formed text takes in JSON whose controls are escaped ({@link escapeControlsInJson}). */
export function escapedLength(unit: number): number {
  if (unit < 0x20) return (unit >= 0x08 && unit <= 0x0a) || unit === 0x0c || unit === 0x0d ? 2 : 6
  if (unit < 0x7f) return unit === 0x22 || unit === 0x5c ? 2 : 1
  const isRaw =
    unit <= 0x9f ||
    unit === 0x061c ||
    (unit >= 0x200e && unit <= 0x200f) ||
    (unit >= 0x202a && unit <= 0x202e) ||
    (unit >= 0x2066 && unit <= 0x2069)
  return isRaw ? 6 : 1
}
