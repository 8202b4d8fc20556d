import type { MEMBERS_ONLY_WORDS } from '../members-only.ts'

/** The texts that differ in a library for members, in German. */
export const MEMBERS_ONLY_WORDS_DE: typeof MEMBERS_ONLY_WORDS = {
  visibilityMeans: {
    private: 'Privat: nur du',
    unlisted: 'Nicht gelistet: Mitglieder mit dem Link',
    members: 'Mitglieder: alle, die angemeldet sind',
    public: 'Öffentlich: alle, die angemeldet sind',
  },
  makePublicMeans: 'Dann können alle ihn lesen, die angemeldet sind. Versionen aus der Zeit davor bleiben verborgen.',
  profileLead: 'Für alle sichtbar, die angemeldet sind.',
  published: 'Veröffentlicht. Alle, die angemeldet sind, können es jetzt lesen. Du kannst das zehn Minuten lang rückgängig machen.',
}
