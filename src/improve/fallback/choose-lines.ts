import type { OutputType } from '../output.ts'
import { findCue, hasCue } from './cues.ts'
import { hasSection, readHeadings } from './headings.ts'
import { LANGUAGES, type Language } from './language.ts'

/** Most lines added to a prompt for text. */
const MAX_TEXT_LINES = 4
/** How much of a prompt tells its kind, in UTF-16 units: the request comes before the material. */
const MAX_REQUEST = 400
/** The same for a long prompt, and behind a role: both speak of many things. */
const MAX_SHORT_REQUEST = 120
/** From this length on, in UTF-16 units, a prompt of no known kind lacks nothing. */
const LONG_PROMPT = 1500
/** How far from the start a role is looked for. */
const MAX_ROLE_START = 120
/** How far behind other cues the late ones rank, in UTF-16 units: "Write a plan" is about a plan. */
const LATE = 30

/** Every line there is, in every language. */
const OWN_LINES: ReadonlySet<string> = new Set(
  LANGUAGES.flatMap(({ answerLines, lines }) => [answerLines, lines].flatMap((groups) => Object.values(groups).flatMap(Object.keys))),
)

/** The kind of a prompt in which no cue is found. */
const DEFAULT_KIND: Readonly<Record<OutputType, string>> = { text: 'generic', image: 'picture', video: 'film', sound: 'sound' }
/** Kinds recognised by `media`; the others are kinds of text. */
const MEDIA_KINDS: Readonly<Record<OutputType, readonly string[]>> = { text: [], image: ['graphic'], video: [], sound: ['music', 'speech'] }

/**
 * Lines in the prompt's language for points that prompts of its kind usually settle and this one does not. A prompt that has a section of
 * requirements, or one of these lines already, lacks nothing.
 */
export function chooseLines(prompt: string, outputType: OutputType, language: Language): string[] {
  const headings = readHeadings(prompt)
  if (outputType === 'text' && LANGUAGES.some(({ titles, sections }) => hasSection(headings, `${titles}, ${sections}`))) return []
  if (hasOwnLine(prompt)) return []
  const text = prompt.replaceAll('’', "'")
  const kinds = outputType === 'text' ? chooseTextKinds(text, language) : [chooseMediaKind(text, outputType, language)]
  const mayAnswerMore = !hasCue(text, language.form)
  const lines = (mayAnswerMore ? [language.answerLines, language.lines] : [language.lines]).flatMap((groups) =>
    Object.entries(groups).flatMap(([suited, rules]) =>
      suited.split(' ').some((kind) => kinds.includes(kind)) ? Object.entries(rules) : [],
    ),
  )
  const missing = lines.filter(([, settled]) => !hasCue(text, settled)).map(([line]) => line)
  return outputType === 'text' ? missing.slice(0, MAX_TEXT_LINES) : missing
}

/** Whether a prompt was improved before. */
function hasOwnLine(prompt: string): boolean {
  return prompt.split(/\r\n|\r|\n/).some((line) => OWN_LINES.has(line.trim().replace(/^- /, '')))
}

/**
 * The kind whose cue comes first; `persona` for a role without a request. A topic, which is what an early cue tells, stands in for
 * that kind, and joined with it for itself: `query`, `query+fix`.
 */
function chooseTextKinds(text: string, { roles, early, cues, late }: Language): string[] {
  const roleAt = findCue(text.slice(0, MAX_ROLE_START), roles)
  const request = roleAt === -1 ? text : text.slice(0, roleAt) + text.slice(roleAt).replace(/^[^.,;!?\n]*/, '')
  const isLong = text.length > LONG_PROMPT
  const lead = request.slice(0, isLong || roleAt !== -1 ? MAX_SHORT_REQUEST : MAX_REQUEST)
  const kind = roleAt === -1 ? findFirst(lead, [cues, 0], [late, LATE]) : findFirst(lead, [cues, 0])
  const topic = findFirst(lead, [early, 0])
  if (topic) return kind ? [topic, `${topic}+${kind}`] : [topic]
  if (kind) return [kind]
  if (roleAt !== -1) return ['persona']
  return isLong ? [] : [DEFAULT_KIND.text]
}

function chooseMediaKind(text: string, outputType: OutputType, { media }: Language): string {
  const known = MEDIA_KINDS[outputType].filter((kind) => hasCue(text, media[kind] ?? ''))
  return known[0] ?? DEFAULT_KIND[outputType]
}

/** The kind of the earliest cue in lists that count from an offset; the first of equals. */
function findFirst(text: string, ...lists: readonly (readonly [Readonly<Record<string, string>>, number])[]): string | undefined {
  return lists
    .flatMap(([kinds, offset]) => Object.entries(kinds).map(([kind, list]) => ({ kind, at: findCue(text, list), offset })))
    .filter(({ at }) => at !== -1)
    .toSorted((a, b) => a.at + a.offset - (b.at + b.offset))[0]?.kind
}
