/** How one language writes numbers, dates and lists. */
export interface Formats {
  number(value: number): string
  /** With one digit after the point, at most. */
  shortNumber(value: number): string
  /** A day in UTC, such as 31 Jan 2026. */
  day(at: string): string
  /** A day in UTC without its year. */
  shortDay(at: string): string
  /** A day with its time, in UTC. */
  moment(at: string): string
  /** `a, b or c` */
  anyOf(names: Iterable<string>): string
  /** `a, b and c` */
  allOf(names: Iterable<string>): string
}

/** One entry for each language of the pages: making an Intl object takes longer than making a page. */
const FORMATS = new Map<string, Formats>()

function makeFormats(language: string): Formats {
  const numbers = new Intl.NumberFormat(language)
  const shortNumbers = new Intl.NumberFormat(language, { maximumFractionDigits: 1 })
  const days = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
  const shortDays = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const moments = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC', hourCycle: 'h23' })
  const alternatives = new Intl.ListFormat(language, { type: 'disjunction' })
  const lists = new Intl.ListFormat(language, { type: 'conjunction' })
  return {
    number: (value) => numbers.format(value),
    shortNumber: (value) => shortNumbers.format(value),
    day: (at) => days.format(new Date(at)),
    shortDay: (at) => shortDays.format(new Date(at)),
    moment: (at) => `${moments.format(new Date(at))} UTC`,
    anyOf: (names) => alternatives.format(names),
    allOf: (names) => lists.format(names),
  }
}

/** @param language the code of a catalogue, never what a reader sent */
export function formatsOf(language: string): Formats {
  const made = FORMATS.get(language) ?? makeFormats(language)
  FORMATS.set(language, made)
  return made
}
