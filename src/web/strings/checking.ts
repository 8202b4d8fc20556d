import { formatsOf } from '../formats.ts'

const { number } = formatsOf('en')

/** The check of a set of skills. */
export const CHECKING_WORDS = {
  title: 'Check of a set',
  link: 'Check this set',
  counts: (high: number, medium: number, low: number) => `${number(high)} high, ${number(medium)} medium, ${number(low)} low`,
  levels: { high: 'high', medium: 'medium', low: 'low' },
  cut: 'Only the first 1,000 skills were checked.',
  pending: (n: number) => `Skills not compared yet: ${number(n)}. Reload the page in a while.`,
  noEncoder: 'Skills are not compared by meaning: this service has no built-in encoder.',
  listing: 'Listing',
  listingLead: 'Agents list names and descriptions within a budget, here for a context of 200,000 tokens.',
  custom: 'Your budget',
  used: {
    characters: (cost: number, limit: number) => `${number(cost)} of ${number(limit)} characters`,
    tokens: (cost: number, limit: number) => `${number(cost)} of ${number(limit)} tokens`,
  },
  shortened: (n: number) => `Descriptions cut: ${number(n)}`,
  dropped: (n: number) => `Descriptions dropped: ${number(n)}`,
  omitted: (n: number) => `Skills not listed: ${number(n)}`,
  inOrder: 'In this order',
  budget: 'Your budget in characters',
  check: 'Check',
  findings: 'Findings',
  rules: {
    same: 'The same name',
    hyphens: 'Names differ by hyphens',
    plural: 'Names differ by a plural',
    'one-letter': 'Names differ by one letter',
    alike: 'Too alike: percentile of all pairs, and shared words',
    'too-long': 'Description has more than 1,024 characters',
    blurred: 'Description does not say what the skill does',
    short: 'Description is too short to choose by',
    'no-when': 'Description does not say when to use it',
    'first-person': 'Description is in the first person',
    misrouted: 'The first should answer this query, and another does',
  },
  routing: (hits: number, queries: number) => `Routing: ${number(hits)} of ${number(queries)} queries reach their skill`,
  none: 'Nothing found.',
}
