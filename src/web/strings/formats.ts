/** One entry for each language of the pages: making an Intl object takes longer than making a page. */
const FORMATS = new Map<string, ReturnType<typeof makeFormats>>()

/** How one language writes numbers, dates and lists. */
function makeFormats(language: string) {
  const numbers = new Intl.NumberFormat(language)
  const shortNumbers = new Intl.NumberFormat(language, { maximumFractionDigits: 1 })
  const days = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
  const shortDays = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const moments = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC', hourCycle: 'h23' })
  const alternatives = new Intl.ListFormat(language, { type: 'disjunction' })
  const lists = new Intl.ListFormat(language, { type: 'conjunction' })
  return {
    number: (value: number) => numbers.format(value),
    /** With one digit after the point, at most. */
    shortNumber: (value: number) => shortNumbers.format(value),
    /** A day in UTC, such as 31 Jan 2026. */
    day: (at: string) => days.format(new Date(at)),
    /** A day in UTC without its year. */
    shortDay: (at: string) => shortDays.format(new Date(at)),
    /** A day with its time, in UTC. */
    moment: (at: string) => `${moments.format(new Date(at))} UTC`,
    /** `a, b or c` */
    anyOf: (names: Iterable<string>) => alternatives.format(names),
    /** `a, b and c` */
    allOf: (names: Iterable<string>) => lists.format(names),
  }
}

/** @param language the code of a catalogue, never what a reader sent */
export function formatsOf(language: string) {
  const made = FORMATS.get(language) ?? makeFormats(language)
  FORMATS.set(language, made)
  return made
}

/** Numbers as English writes them. */
export const { number } = formatsOf('en')

/** A number with its noun, such as 1 vote or 1,234 votes. */
export const count = (n: number, one: string, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`

/** The prompts and skills of a place, without those it has none of. */
export const countItems = (prompts: number, skills: number) =>
  [prompts > 0 ? count(prompts, 'prompt') : '', skills > 0 ? count(skills, 'skill') : ''].filter((text) => text !== '')
