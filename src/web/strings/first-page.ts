/** The first page: for strangers, and for those who are signed in. */
export const FIRST_PAGE_WORDS = {
  categories: 'Browse by category',
  lately: 'Yours, lately',
  allOwn: 'All of yours',
  allFavourites: 'All favourites',
  drafts: 'Unsaved drafts on this browser',
  untitled: 'Untitled',
  ofOthers: 'New from others',
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
