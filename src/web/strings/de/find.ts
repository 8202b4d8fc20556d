import { formatsOf } from '../../formats.ts'
import type { FIND_WORDS } from '../find.ts'

const { number } = formatsOf('de')

/** Searching and finding, in German. */
export const FIND_WORDS_DE: typeof FIND_WORDS = {
  menu: 'Menü',
  field: 'Bibliothek durchsuchen',
  both: 'Prompts und Skills durchsuchen',
  failed: 'Das ist fehlgeschlagen. Versuche es noch einmal.',
  voted: 'Stimme gegeben',
  unvoted: 'Stimme zurückgenommen',
  aboutLists: {
    prompts: 'Alle Prompts dieser Bibliothek, nach Kategorie, Typ und Schlagwort, mit Variablen zum Ausfüllen.',
    skills: 'Alle Skills dieser Bibliothek: Ordner mit Anleitungen, Skripten und Nachschlagewerken für KI-Agenten.',
  },
  blanks: (count) => (count === 1 ? '1 Lücke' : `${number(count)} Lücken`),
  results: (query) => `Ergebnisse für „${query}“`,
  lead: 'Schreib, was du brauchst. Die Suche findet Prompts und Skills nach ihren Wörtern und nach ihrer Bedeutung.',
  allOf: {
    prompts: (count) => `Alle ${number(count)} Prompts`,
    skills: (count) => `Alle ${number(count)} Skills`,
  },
  inBoth: 'Prompts und Skills danach durchsuchen',
  counts: {
    prompts: (count) => (count === 1 ? '1 Prompt' : `${number(count)} Prompts`),
    skills: (count) => (count === 1 ? '1 Skill' : `${number(count)} Skills`),
  },
  filter: (active) => (active === 0 ? 'Filter' : `Filter (${active})`),
  noItems: { prompts: 'Noch keine Prompts.', skills: 'Noch keine Skills.' },
  noItemsHelp: 'Hier steht alles Gespeicherte, das öffentlich ist oder dir gehört.',
  howToImport: 'So wird importiert',
  browseAll: { prompts: 'Alle Prompts ansehen', skills: 'Alle Skills ansehen' },
  shortcuts: 'Tastenkürzel',
  shortcutKeys: [
    ['/', 'Suchen'],
    ['Strg K', 'Befehlspalette öffnen'],
    ['j', 'Nächste Zeile einer Liste'],
    ['k', 'Vorige Zeile'],
    ['Enter', 'Zeile öffnen'],
    ['c', 'Prompt der Zeile kopieren'],
    ['e', 'Bearbeiten'],
    ['v', 'Stimme geben oder zurücknehmen'],
    ['?', 'Diese Tastenkürzel zeigen'],
  ],
  singleKeys: 'Kürzel mit einer einzigen Taste benutzen',
  close: 'Schließen',
  pagesGroup: 'Seiten',
  actionsGroup: 'Aktionen',
  searchFor: 'Suchen nach',
  noMatches: 'Keine Treffer.',
  themes: { light: 'Farbschema: hell', dark: 'Farbschema: dunkel', system: 'Farbschema: wie das System' },
  problems: {
    forbidden: 'Dazu hast du kein Recht',
    unauthenticated: 'Bitte zuerst anmelden',
    invalid_input: 'Diese Adresse ist ungültig',
    rate_limited: 'Zu viele Anfragen',
    unavailable: 'Gerade nicht verfügbar',
  },
  adminOnly: 'Diese Seite ist nur für Admins.',
  unknownChoice: (given, choices) => `„${given}“ steht hier nicht zur Wahl. Wähle ${choices}.`,
  didYouMean: 'Meintest du eines davon?',
  reference: 'Referenz',
}
