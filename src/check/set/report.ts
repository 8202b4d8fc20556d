import { z } from 'zod'
import { estimateTokens } from '../../domain/ports/models.ts'
import { countCharacters, cutCharacters } from '../../domain/text/characters.ts'

/** How much a finding matters: `high` breaks the skill for some agents, `medium` misleads them, `low` is advice. */
export const LEVELS = ['high', 'medium', 'low'] as const
export type Level = (typeof LEVELS)[number]

/** The longest query, in characters. */
export const MAX_QUERY = 500

const level = z.enum(LEVELS)
const count = z.number().int()
const skill = z.object({ id: z.string(), name: z.string() })
const pair = { a: skill, b: skill, level }

/** The findings of a set, as every surface gives them. */
export const setReport = z.object({
  skills: count.describe('Skills that are checked: at most 1,000'),
  isCut: z.boolean().describe('Whether there are more'),
  unlisted: z.array(z.object({ id: z.string(), title: z.string(), fault: z.string() })).describe('Skills that no agent lists'),
  pending: count.nullable().describe('Skills not compared yet: ask again. null: there is no encoder here'),
  counts: z.object({ high: count, medium: count, low: count }).describe('Findings by level'),
  budgets: z.array(
    z.object({
      profile: z.enum(['claude-code', 'codex', 'custom']),
      unit: z.enum(['characters', 'tokens']),
      limit: count,
      cost: count.describe('Of the whole listing, in the unit'),
      characters: count,
      tokens: count,
      shortened: count.describe('Descriptions that are cut'),
      dropped: z.array(skill).describe('Skills without a description, the first one dropped first'),
      omitted: z.array(skill).describe('Skills that are not listed'),
      level: level.nullable().describe('null: all fits'),
    }),
  ),
  alike: z.array(
    z.object({
      ...pair,
      likeness: z.number(),
      percentile: z.number().describe('Share of the pairs of this set that are less alike'),
      words: z.array(z.string()).describe('Words that both descriptions hold, the rarest first'),
    }),
  ),
  names: z.array(z.object({ ...pair, why: z.enum(['same', 'hyphens', 'plural', 'one-letter']) })),
  descriptions: z.array(z.object({ skill, fault: z.enum(['too-long', 'blurred', 'short', 'no-when', 'first-person']), level })),
  routing: z
    .object({
      queries: count,
      hits: count.describe('Queries that reach the right skill first, or keep away from the wrong one'),
      margin: z.number().nullable().describe('Median of the cosine of the skill that is meant less that of the nearest other'),
      confusions: z.array(z.object({ query: z.string(), skill, instead: skill.nullable(), margin: z.number(), level })),
    })
    .nullable()
    .describe('null: no queries'),
})
export type SetReport = z.infer<typeof setReport>
export type ListingBudget = SetReport['budgets'][number]
export type AlikePair = SetReport['alike'][number]
export type NamePair = SetReport['names'][number]
export type DescriptionFault = SetReport['descriptions'][number]['fault']
export type Routing = NonNullable<SetReport['routing']>
export type SkillRef = z.infer<typeof skill>

/** A skill as agents list it. `length` is that of the description as it is written, which listings cut to 1,024 characters. */
export interface ListedSkill extends SkillRef {
  readonly description: string
  readonly length: number
}

/** A skill as findings name it. */
export function refOf({ id, name }: SkillRef): SkillRef {
  return { id, name }
}

const LEVEL_OF: Record<DescriptionFault, Level> = {
  'too-long': 'high',
  blurred: 'medium',
  short: 'low',
  'no-when': 'low',
  'first-person': 'low',
}

/** Faults of a skill's description as findings. */
export function toFindings(of: ListedSkill, faults: readonly DescriptionFault[]): SetReport['descriptions'] {
  return faults.map((fault) => ({ skill: refOf(of), fault, level: LEVEL_OF[fault] }))
}

/** The findings of a report but for budgets, the worst first: the rule, the skills, and the evidence in words. */
export function listFindings({ alike, names, descriptions, routing }: Pick<SetReport, 'alike' | 'names' | 'descriptions' | 'routing'>) {
  const found = [
    ...names.map(({ a, b, why, level }) => ({ level, rule: why, skills: [a, b], evidence: [] })),
    ...alike.map(({ a, b, percentile, words, level }) => ({
      level,
      rule: 'alike' as const,
      skills: [a, b],
      evidence: [`${percentile} %`, ...words],
    })),
    ...descriptions.map(({ skill, fault, level }) => ({ level, rule: fault, skills: [skill], evidence: [] })),
    ...(routing?.confusions ?? []).map(({ query, skill, instead, level }) => ({
      level,
      rule: 'misrouted' as const,
      skills: instead ? [skill, instead] : [skill],
      evidence: [`“${query}”`],
    })),
  ]
  return LEVELS.flatMap((level) => found.filter((one) => one.level === level))
}

/** Tokens of the context that budgets are a share of (anthropics/claude-code#64606). */
export const DEFAULT_CONTEXT = 200_000
const CHARACTERS_A_TOKEN = 4
const SHARES = { 'claude-code': 0.01, codex: 0.02 }

/**
 * The budgets of Claude Code and Codex for a listing, and one of so many characters when `characters` is given.
 *
 * Claude Code spends 1 % of its context, 4 characters a token, on lines `- name: description`. Names stay; the skills used most keep their
 * description until the budget is spent, the others lose it (anthropics/claude-code#64606; code.claude.com/docs/en/skills). Skills that
 * nobody has used yet are taken in the order of names.
 *
 * Codex spends 2 % of its context in tokens of 4 bytes, on lines that end with the path of the file. Descriptions are cut to one length;
 * where names alone are too many, no description is left, and the last skills are omitted (openai/codex#18213 and #19679,
 * codex-rs/core-skills/src/render.rs).
 * @param context tokens
 */
export function planListings(skills: readonly ListedSkill[], context: number, characters: number | null): ListingBudget[] {
  const ordered = skills.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return [
    planByCutoff('claude-code', ordered, Math.floor(context * CHARACTERS_A_TOKEN * SHARES['claude-code'])),
    planByLength(ordered, Math.floor(context * SHARES.codex)),
    ...(characters === null ? [] : [planByCutoff('custom', ordered, characters)]),
  ]
}

function planByCutoff(profile: 'claude-code' | 'custom', skills: readonly ListedSkill[], limit: number): ListingBudget {
  const listing = skills.map(({ name, description }) => `- ${name}: ${description}\n`).join('')
  const characters = countCharacters(listing)
  let left = limit - skills.reduce((sum, { name }) => sum + countCharacters(`- ${name}\n`), 0)
  const firstDropped = skills.findIndex(({ description }) => {
    left -= countCharacters(`: ${description}`)
    return left < 0
  })
  const dropped = firstDropped === -1 ? [] : skills.slice(firstDropped).toReversed().map(refOf)
  const level = dropped.length > 0 ? 'medium' : null
  const tokens = estimateTokens(listing)
  return { profile, unit: 'characters', limit, cost: characters, characters, tokens, shortened: 0, dropped, omitted: [], level }
}

function planByLength(skills: readonly ListedSkill[], limit: number): ListingBudget {
  const lines = (length: number) =>
    skills.map(({ name, description }) => `- ${name}: ${cutCharacters(description, length)} (file: ~/.agents/skills/${name}/SKILL.md)\n`)
  const costs = (length: number) => lines(length).map(estimateTokens)
  const costAt = (length: number) => costs(length).reduce((sum, cost) => sum + cost, 0)
  const lengths = skills.map(({ description }) => countCharacters(description))
  const longest = Math.max(0, ...lengths)
  const tokens = costAt(longest)
  // The greatest length at which all lines fit; -1 where names do not.
  let [fits, tooLong] = tokens <= limit ? [longest, longest + 1] : [-1, longest]
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1
    if (costAt(middle) <= limit) fits = middle
    else tooLong = middle
  }
  let left = fits >= 0 ? Number.POSITIVE_INFINITY : limit
  const firstOmitted = costs(0).findIndex((cost) => {
    left -= cost
    return left < 0
  })
  const [listed, omitted] = firstOmitted === -1 ? [skills, []] : [skills.slice(0, firstOmitted), skills.slice(firstOmitted)]
  const dropped = fits > 0 ? [] : listed.map(refOf)
  const shortened = fits > 0 ? lengths.filter((length) => length > fits).length : 0
  const level = dropped.length + omitted.length > 0 ? 'medium' : shortened > 0 ? 'low' : null
  const characters = countCharacters(lines(longest).join(''))
  return {
    profile: 'codex',
    unit: 'tokens',
    limit,
    cost: tokens,
    characters,
    tokens,
    shortened,
    dropped,
    omitted: omitted.map(refOf),
    level,
  }
}
