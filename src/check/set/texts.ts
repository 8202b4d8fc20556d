import { MAX_DESCRIPTION } from '../../domain/skills/frontmatter.ts'
import { damerauLevenshtein } from '../../search/analysis/edit-distance.ts'
import { eachWord, STOP_WORDS } from '../../search/analysis/words.ts'
import { type DescriptionFault, type Level, type ListedSkill, type NamePair, refOf } from './report.ts'

/** Words that say when to use a skill, in the languages that most descriptions have. */
const WHEN =
  /\b(?:when(?:ever)?|use (?:this|it|for|if|on|to)|used (?:for|to)|triggers? (?:on|for)|wenn|sobald|falls|quand|lorsque|cuando|quando)\b|用于|時|时|とき/iu
/** Examples of what people say are no text of the author's. */
const QUOTED = /"[^"]*"|“[^”]*”|„[^“]*“|«[^»]*»|(?<!\w)['‘][^'’]*['’](?!\w)/gu
const FIRST_PERSON = /\bI\b(?![/.+-])|\b(?:[Mm]y|[Ww]e|[Oo]ur|[Ii]ch|[Ww]ir)\b/u
/** A purpose and an occasion take a verb and an object each. */
const MIN_WORDS = 4
/** Pairs that are named: a set may hold one skill a hundred times. */
export const MAX_PAIRS = 200
const NAME_LEVELS: Record<NamePair['why'], Level> = { same: 'high', hyphens: 'medium', plural: 'medium', 'one-letter': 'low' }
/** Shorter names that differ by a letter are different words. */
const MIN_NAME = 5

/** The words of a text that say what it is about, each once, without the compounds that search makes. */
export function tellingWords(text: string): Set<string> {
  const words = new Set<string>()
  const written = text.toLowerCase()
  eachWord(text, (word) => {
    if (!STOP_WORDS.has(word) && written.includes(word)) words.add(word)
  })
  return words
}

/** Faults of a description by itself (agentskills.io: at most 1,024 characters, what the skill does and when to use it, in the third person). */
function findDescriptionFaults({ description, length }: ListedSkill): DescriptionFault[] {
  const faults: readonly (DescriptionFault | false)[] = [
    length > MAX_DESCRIPTION && 'too-long',
    tellingWords(description).size < MIN_WORDS && 'short',
    !WHEN.test(description) && 'no-when',
    FIRST_PERSON.test(description.replaceAll(QUOTED, ' ')) && 'first-person',
  ]
  return faults.filter((fault) => fault !== false)
}

/**
 * Faults of each description, and pairs of skills whose names are the same, so that an agent loads one of them, or nearly the same: hyphens apart, with a plural, by one edit.
 * Names that differ by a digit are versions (`react18-hooks`, `react19-hooks`). Yields now and then.
 */
export function* checkTexts(skills: readonly ListedSkill[]): Generator<void, { names: NamePair[]; faults: DescriptionFault[][] }> {
  const names: NamePair[] = []
  const faults: DescriptionFault[][] = []
  for (const [place, a] of skills.entries()) {
    yield
    faults.push(findDescriptionFaults(a))
    for (const b of skills.slice(place + 1)) {
      const why = names.length < MAX_PAIRS ? compareNames(a.name, b.name) : null
      if (why) names.push({ a: refOf(a), b: refOf(b), why, level: NAME_LEVELS[why] })
    }
  }
  return { names, faults }
}

/** How two names are nearly the same; null: they are not. Names that differ by a digit are versions. */
export function compareNames(a: string, b: string): NamePair['why'] | null {
  if (a === b) return 'same'
  const [one, other] = [a.replaceAll('-', ''), b.replaceAll('-', '')]
  if (one === other) return 'hyphens'
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  if (long === `${short}s` || long === `${short}es`) return 'plural'
  if (short.length < MIN_NAME || damerauLevenshtein(one, other, 1) > 1) return null
  return one.replaceAll(/\d/g, '') === other.replaceAll(/\d/g, '') ? null : 'one-letter'
}
