/** The texts that differ in a library for members: nothing in it is for everyone. */
export const MEMBERS_ONLY_WORDS = {
  visibilityMeans: {
    private: 'Private: only you',
    unlisted: 'Unlisted: members with the link',
    members: 'Members: everyone who is signed in',
    public: 'Public: everyone who is signed in',
  },
  makePublicMeans: 'Everyone who is signed in can then read it. Versions written while it was hidden stay hidden.',
  profileLead: 'Visible to everyone who is signed in.',
  published: 'Published. Everyone who is signed in can read it now. You can undo this for ten minutes.',
}
