import { PAGES } from '../../src/web/routes.ts'

/** What stands for the parts of a page's path that are not fixed. */
export interface ShownItems {
  readonly prompt: string
  readonly skill: string
  readonly user: string
  /** Slug of a collection. */
  readonly collection: string
}

/** The team whose page is looked at, by those of its members that made it. */
export const SHOWN_TEAM = 'reviewers'

/** How the path of a page becomes an address; one that is not fixed and has no line here is a page that no test looks at. */
const PARTS: readonly (readonly [part: string, toText: (items: ShownItems) => string])[] = [
  ['/prompts/:ref', ({ prompt }) => `/prompts/${prompt}`],
  ['/skills/:ref', ({ skill }) => `/skills/${skill}`],
  ['/collections/:ref', ({ collection }) => `/collections/${collection}`],
  ['/import/:ref', () => '/import'],
  ['/@:name', ({ user }) => `/@${user}`],
  // It leads there.
  ['/users/:name', ({ user }) => `/@${user}`],
  ['/teams/:team', () => `/teams/${SHOWN_TEAM}`],
  ['/tags/:tag', () => '/tags/review'],
  ['/categories/:category', () => '/categories/coding'],
  ['/categories/:slug', () => '/categories/coding'],
  ['/people/:name', ({ user }) => `/people/${user}`],
  // It leads to one, or there.
  ['/sign-in/with/:provider', () => '/sign-in'],
  // Without a password that was right a moment ago it leads there.
  ['/sign-in/code', () => '/sign-in'],
  ['/versions/:version', () => '/versions/1'],
  // A run has a page once there is one; proved in run-tests.test.ts.
  ['/tests/:run', () => '/tests'],
  ['/docs/api/:group', () => '/docs/api/prompts'],
]

/** What a program asks for, which is shown only with its signed query; proved in oauth.test.ts. */
const WITHOUT_ADDRESS = '/oauth2/consent'

/** An address of every page there is. @throws for a page that has none here */
export function addressesOfPages(items: ShownItems): { readonly address: string; readonly isOfMcp: boolean }[] {
  return PAGES.filter(({ path }) => path !== WITHOUT_ADDRESS).map(({ path, isOfMcp = false, isOfOAuth = false }) => {
    const address = PARTS.reduce((text, [part, toText]) => text.replace(part, () => toText(items)), path)
    if (address.includes(':')) throw new Error(`Give the page ${path} an address in test/support/page-addresses.ts`)
    return { address, isOfMcp: isOfMcp || isOfOAuth }
  })
}
