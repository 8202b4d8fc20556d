/** The first page: for strangers, and for those who are signed in. */
export const FIRST_PAGE_WORDS = {
  categories: 'Browse by category',
  lately: 'Recently edited by you',
  allOwn: 'All of yours',
  allFavourites: 'All favourites',
  drafts: 'Unsaved drafts on this browser',
  untitled: 'Untitled',
  ofOthers: 'New in the library',
  unclaimed: 'This library has no administrator yet. Open the address that the service printed when it started.',
  firstSteps: 'First steps',
  steps: {
    account: 'Create an account',
    key: 'Create an API key',
    client: 'Connect your editor with the key',
    item: 'Save your first prompt',
    invite: 'Invite someone',
  },
  stepDone: 'done',
  hideSteps: 'Hide these steps',
}
