import { hasCue } from './cues.ts'

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
export function hasSection(headings: readonly Heading[], titles: string): boolean {
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
