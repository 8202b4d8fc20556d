import { formatsOf } from '../formats.ts'

const { number } = formatsOf('en')

/** The documentation pages. */
export const DOCUMENT_WORDS = {
  documents: 'Docs',
  documentsLead: 'How to use the library, and how to run it.',
  sectionsFound: (n: number) => (n === 1 ? '1 section found.' : `${number(n)} sections found.`),
  allDocuments: 'All documents',
  neighbours: 'Previous and next',
  previousDocument: 'Previous',
  nextDocument: 'Next',
  linkToSection: (title: string) => `Link to “${title}”`,
  onThisPage: 'On this page',
  aboutDocuments: {
    'getting-started': 'Start the service and create your first prompt.',
    connect: 'Use the library from your AI tools.',
    install: 'Install skills in the agents you use.',
    accounts: 'Sign in, invite others, and reset a forgotten password.',
    'sign-in': 'Sign in with OpenID Connect, GitHub or a proxy, and assign rights by groups.',
    'keys-and-visibility': 'Who can read and change what, and how programs authenticate.',
    teams: 'Own prompts and skills together: roles, names and set-ups.',
    variables: 'Use variables in a prompt, and fill them in.',
    skills: 'Folders of instructions and files for agents.',
    collections: 'Put prompts and skills together, in an order, and share them.',
    git: 'Clone the library, and install skills from it with Git.',
    search: 'How queries are parsed and results are ranked.',
    improve: 'Improve a prompt, with a language model or without one.',
    embeds: 'Show a prompt on your own website.',
    'import-export': 'Import and export prompts and skills, and sync a folder.',
    backup: 'Back up, restore and move a whole library.',
    'self-hosting': 'Run the service for yourself or for others.',
    upgrade: 'Upgrade to a new version, or roll back.',
    scaling: 'From a single file to several processes on PostgreSQL.',
    benchmarks: 'What requests cost, and how to measure it yourself.',
    api: 'Every route, for programs.',
    tools: 'The tools that clients offer to their model.',
    cli: 'Every command.',
    settings: 'Every setting.',
    errors: 'Every error code.',
  },
  documentGroups: { use: 'Use', share: 'Share', run: 'Run', reference: 'Reference' },
}
