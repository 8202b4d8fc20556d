import { countCharacters, cutCharacters } from '../../domain/text/characters.ts'
import { estimateTokens } from '../../domain/text/estimate-tokens.ts'
import { type ListedSkill, type ListingBudget, refOf } from './report.ts'

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
