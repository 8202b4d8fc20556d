import { ENGLISH } from './index.ts'

/** The texts of a library for members: nothing in it is for everyone. */
export const MEMBERS_ONLY_ENGLISH: typeof ENGLISH = {
  ...ENGLISH,
  visibilityMeans: {
    private: 'Private: only you',
    unlisted: 'Unlisted: members with the link',
    members: 'Members: everyone who is signed in',
    public: 'Public: everyone who is signed in',
  },
  makePublicMeans: 'Everyone who is signed in can then read it. Versions written while it was hidden stay hidden.',
  profileLead: 'Visible to everyone who is signed in.',
  done: { ...ENGLISH.done, published: 'Published. Everyone who is signed in can read it now. You can undo this for ten minutes.' },
}
