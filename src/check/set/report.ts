import { z } from 'zod'

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
