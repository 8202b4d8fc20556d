import type { FIRST_PAGE_WORDS } from '../first-page.ts'

/** The first page: for strangers, and for those who are signed in, in German. */
export const FIRST_PAGE_WORDS_DE: typeof FIRST_PAGE_WORDS = {
  categories: 'Nach Kategorie stöbern',
  lately: 'Zuletzt von dir bearbeitet',
  allOwn: 'Alles von dir',
  allFavourites: 'Alle Favoriten',
  drafts: 'Ungespeicherte Entwürfe in diesem Browser',
  untitled: 'Ohne Titel',
  ofOthers: 'Neu in der Bibliothek',
  unclaimed: 'Diese Bibliothek hat noch keine Administration. Öffne die Adresse, die der Dienst beim Start ausgegeben hat.',
  firstSteps: 'Erste Schritte',
  steps: {
    account: 'Ein Konto erstellen',
    key: 'Einen API-Schlüssel erstellen',
    client: 'Deinen Editor mit dem Schlüssel verbinden',
    item: 'Deinen ersten Prompt speichern',
    invite: 'Jemanden einladen',
  },
  stepDone: 'erledigt',
  hideSteps: 'Diese Schritte ausblenden',
}
