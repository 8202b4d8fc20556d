import type { OutputType } from '../improve-with-model.ts'
import data from './kinds.json' with { type: 'json' }

/** Compiled lists. The lists come from kinds.json alone, so their number is bounded. */
const compiled = new Map<string, RegExp>()

/**
 * The position of the first cue of a list in a text, or -1. A list holds words and phrases between commas; `*` stands for any
 * letters. Whole words match, in any case. Takes linear time.
 * @example findCue('Summarise this', 'summar*, sum up') // 0
 */
function findCue(text: string, list: string): number {
  return text.search(compile(list))
}

/** Whether a text has a cue of a list. */
export function hasCue(text: string, list: string): boolean {
  return compile(list).test(text)
}

function compile(list: string): RegExp {
  const cached = compiled.get(list)
  if (cached) return cached
  const cues = list.split(', ').map((cue) =>
    cue
      .replace(/[.+?^$()[\]{}|\\]/g, '\\$&')
      .replaceAll('*', '[\\p{L}\\p{M}]*')
      .replaceAll(' ', '\\s+'),
  )
  const pattern = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])(?:${cues.join('|')})(?![\\p{L}\\p{M}\\p{N}])`, 'iu')
  compiled.set(list, pattern)
  return pattern
}

/** A heading of a prompt. `before` and `after` are what its style puts around a title. */
export interface Heading {
  readonly title: string
  readonly before: string
  readonly after: string
}

const FENCE = /^ {0,3}(?:`{3,}|~{3,})/
const MAX_TITLE = 60
/** Words of a label: a longer line before a colon is a sentence. */
const MAX_LABEL_WORDS = 4

/** The headings of a prompt outside its code fences: `## Title`, `**Title:**` and `Title:`, the last two with or without text behind them. */
export function readHeadings(prompt: string): Heading[] {
  const headings: Heading[] = []
  let isInFence = false
  for (const line of prompt.split(/\r\n|\r|\n/)) {
    if (FENCE.test(line)) isInFence = !isInFence
    const heading = isInFence ? null : readHeading(line)
    if (heading) headings.push(heading)
  }
  return headings
}

/** Whether the last code fence of a prompt never closes. */
export function endsInFence(prompt: string): boolean {
  return prompt.split(/\r\n|\r|\n/).filter((line) => FENCE.test(line)).length % 2 === 1
}

function readHeading(line: string): Heading | null {
  const hashes = /^(#{1,6}) +(\S.*)$/.exec(line)
  if (hashes) return { title: hashes[2] ?? '', before: `${hashes[1]} `, after: '' }
  const text = line.trim()
  const bold = /^\*\*([^*]{1,60})\*\*(:?)/.exec(text)
  if (bold && (bold[2] === ':' || bold[1]?.endsWith(':') || bold[0] === text)) return { title: bold[1] ?? '', before: '**', after: ':**' }
  const label = text.slice(0, MAX_TITLE).split(/[:：]/, 1)[0] ?? ''
  const isLabel =
    /^\p{L}[^.!?,;"“]*$/u.test(label) && label.split(/\s+/).length <= MAX_LABEL_WORDS && /^[:：]/.test(text.slice(label.length))
  return isLabel ? { title: label, before: '', after: ':' } : null
}

/** Whether one of the headings has a title of a list, such as `Output requirements` for `Requirements`. */
function hasSection(headings: readonly Heading[], titles: string): boolean {
  return headings.some(({ title }) => hasCue(title, titles))
}

/** A title in the style that most headings of a prompt with headings in Markdown have; as a label in every other prompt. */
export function writeHeading(title: string, headings: readonly Heading[]): string {
  const counts = new Map<string, number>()
  for (const { before } of headings) if (before !== '') counts.set(before, (counts.get(before) ?? 0) + 1)
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a)
  const style = headings.find(({ before }) => before === most?.[0])
  const isShouted = headings.length > 1 && headings.every((heading) => heading.title === heading.title.toUpperCase())
  const written = isShouted ? title.toUpperCase() : title
  return style ? `${style.before}${written}${style.after}` : `${written}:`
}

/** Cues by the kinds they stand for. */
type CuesByKind = Readonly<Record<string, string>>
/** Lines to add, each with the cues that say that a prompt settles it, by the kinds they suit. */
type LinesByKinds = Readonly<Record<string, CuesByKind>>

/** Data of a language: how to recognise it, kinds of prompts, and what to add to them. Strings are lists for findCue unless noted. */
export interface Language {
  /** Frequent words, between spaces: the evidence for the language. */
  readonly words: string
  /** Letters outside ASCII that the language has. */
  readonly letters: string
  /** Titles that the added section may have, the usual one first. */
  readonly titles: string
  /** Further titles of sections that hold requirements. */
  readonly sections: string
  /** How a prompt gives the model a role. */
  readonly roles: string
  /** Cues of prompts that fix the form of the answer, so that no line may add to it. */
  readonly form: string
  /** Cues of a topic, cues whose position decides, and cues that count where no other is near. */
  readonly early: CuesByKind
  readonly cues: CuesByKind
  readonly late: CuesByKind
  /** Kinds of pictures and sounds. */
  readonly media: CuesByKind
  /** Lines that ask for words in the answer, and lines that only ask for care. */
  readonly answerLines: LinesByKinds
  readonly lines: LinesByKinds
}

/** The languages that lines can be written in. */
const LANGUAGES: readonly Language[] = Object.values(data.languages)

/** The languages that are told apart, with their frequent words; null for those that nothing is written in. */
const CANDIDATES: readonly { readonly language: Language | null; readonly known: ReadonlySet<string> }[] = [
  ...LANGUAGES.map((language) => ({ language, known: new Set(language.words.split(' ')) })),
  ...Object.values(data.otherLanguages).map((words) => ({ language: null, known: new Set(words.split(' ')) })),
]

const COLON_OR_QUOTE = /[:：\n"“„«`]/
/** How much of a prompt is looked at, in UTF-16 units. */
const MAX_LOOKED_AT = 2000
/** From this many words on, one known word may be chance. */
const MANY_WORDS = 5
/** The least share of known words; prose has three times as many. */
const MIN_SHARE = 0.1

/**
 * The language of a prompt; null for a text in another language, or with too little evidence. The start decides where it can:
 * what follows may be material in another language.
 */
export function detectLanguage(prompt: string): Language | null {
  const text = prompt.slice(0, MAX_LOOKED_AT)
  for (const part of [text.split(COLON_OR_QUOTE, 1)[0], text.split(/\n\s*\n/, 1)[0], text]) {
    const found = detect(part ?? '')
    if (found !== undefined) return found
  }
  return null
}

/** The language of a part of a prompt; null for another language, undefined where the part does not tell. */
function detect(text: string): Language | null | undefined {
  const words = text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? []
  const letters = words.join('')
  const latin = letters.match(/\p{Script=Latin}/gu)?.length ?? 0
  if (letters.length > 0 && latin * 2 < letters.length) return null
  const scores = CANDIDATES.map(({ language, known }) => {
    const hits = words.filter((word) => known.has(word)).length
    return { language, score: language ? hits + (hasCue(text, language.roles) ? 1 : 0) - countForeign(words, language.letters) : hits }
  }).toSorted((a, b) => b.score - a.score)
  const [best, second] = scores
  const least = Math.max(words.length < MANY_WORDS ? 1 : 2, words.length * MIN_SHARE)
  if (!best || best.score < least || best.score === second?.score) return undefined
  return best.language
}

/** How many words have a letter that a language does not have. */
function countForeign(words: readonly string[], letters: string): number {
  const own = new Set(letters)
  return words.filter((word) => [...word].some((letter) => letter > '\x7f' && !own.has(letter))).length
}

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
