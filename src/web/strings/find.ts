import { formatsOf } from '../formats.ts'

const { number } = formatsOf('en')

/** Searching and finding: the header, the results page, filters, shortcuts, and pages for what was not found. */
export const FIND_WORDS = {
  menu: 'Menu',
  field: 'Search the library',
  both: 'Search prompts and skills',
  failed: 'That failed. Try again.',
  voted: 'Upvoted',
  unvoted: 'Vote removed',
  aboutLists: {
    prompts: 'All prompts of this library, by category, type and tag, with variables to fill in.',
    skills: 'All skills of this library: folders of instructions, scripts and references for AI agents.',
  },
  blanks: (count: number) => (count === 1 ? '1 blank' : `${number(count)} blanks`),
  results: (query: string) => `Results for “${query}”`,
  lead: 'Type what you need. The search finds prompts and skills by their words and by their meaning.',
  allOf: {
    prompts: (count: number) => `All ${number(count)} prompts`,
    skills: (count: number) => `All ${number(count)} skills`,
  },
  inBoth: 'Search prompts and skills for this',
  counts: {
    prompts: (count: number) => (count === 1 ? '1 prompt' : `${number(count)} prompts`),
    skills: (count: number) => (count === 1 ? '1 skill' : `${number(count)} skills`),
  },
  filter: (active: number) => (active === 0 ? 'Filter' : `Filter (${active})`),
  noItems: { prompts: 'No prompts yet.', skills: 'No skills yet.' },
  noItemsHelp: 'Everything that is saved and public, or yours, is listed here.',
  howToImport: 'How to import',
  browseAll: { prompts: 'Browse all prompts', skills: 'Browse all skills' },
  shortcuts: 'Keyboard shortcuts',
  shortcutKeys: [
    ['/', 'Search'],
    ['Ctrl K', 'Open the command palette'],
    ['j', 'Next row of a list'],
    ['k', 'Previous row'],
    ['Enter', 'Open the row'],
    ['c', 'Copy the prompt of the row'],
    ['e', 'Edit it'],
    ['v', 'Upvote it, or remove your vote'],
    ['?', 'Show these shortcuts'],
  ] satisfies [key: string, does: string][] as [key: string, does: string][],
  singleKeys: 'Use single-key shortcuts',
  close: 'Close',
  pagesGroup: 'Pages',
  actionsGroup: 'Actions',
  searchFor: 'Search for',
  noMatches: 'No matches.',
  themes: { light: 'Theme: light', dark: 'Theme: dark', system: 'Theme: match system' },
  problems: {
    forbidden: 'You do not have access',
    unauthenticated: 'Sign in first',
    invalid_input: 'This address is not valid',
    rate_limited: 'Too many requests',
    unavailable: 'Not available right now',
  },
  adminOnly: 'Only administrators can open this page.',
  unknownChoice: (given: string, choices: string) => `“${given}” is not one of the choices here. Choose ${choices}.`,
  didYouMean: 'Did you mean one of these?',
  reference: 'Reference',
}
