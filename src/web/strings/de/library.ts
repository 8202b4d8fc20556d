import { formatsOf } from '../../formats.ts'
import type { LIBRARY_WORDS } from '../library.ts'

const { number } = formatsOf('de')

const items = (count: number) => (count === 1 ? '1 Eintrag' : `${number(count)} Einträge`)
/** After a preposition with the dative. */
const toItems = (count: number) => (count === 1 ? '1 Eintrag' : `${number(count)} Einträgen`)

/** The page of one's own items, where many are changed together, in German. */
export const LIBRARY_WORDS_DE: typeof LIBRARY_WORDS = {
  counts: items,
  sorts: { relevance: 'Beste Treffer', updated: 'Zuletzt geändert', newest: 'Neueste', title: 'Titel', votes: 'Meiste Stimmen' },
  noMatches: 'Nichts von dir passt dazu.',
  select: (title) => `${title} auswählen`,
  selectAll: (total, most) =>
    total > most
      ? `Die ersten ${number(most)} von ${number(total)} auswählen`
      : total === 1
        ? 'Den einen auswählen'
        : `Alle ${number(total)} auswählen`,
  selectPage: (count) => `Die ${number(count)} dieser Seite auswählen`,
  selected: '{count} ausgewählt',
  withSelected: 'Ausgewählte Einträge ändern',
  tag: 'Schlagwort',
  addTag: 'Schlagwort geben',
  removeTag: 'Schlagwort entfernen',
  setCategory: 'Kategorie setzen',
  setVisibility: 'Sichtbarkeit setzen',
  collection: 'Sammlung',
  collect: 'In Sammlung aufnehmen',
  delete: 'Löschen',
  export: 'Exportieren',
  selectFirst: 'Wähle zuerst mindestens einen Eintrag aus.',
  chooseFirst: 'Wähle zuerst einen Wert aus der Liste.',
  tagFirst: 'Gib zuerst ein Schlagwort ein.',
  expired:
    'Das lässt sich nicht mehr rückgängig machen. Einzelne Einträge kannst du aus ihren Versionen oder aus dem Papierkorb wiederherstellen.',
  ask: {
    'add-tag': (count) => `${items(count)} das Schlagwort geben?`,
    'remove-tag': (count) => `Das Schlagwort von ${items(count)} entfernen?`,
    category: (count) => `Die Kategorie von ${items(count)} ändern?`,
    visibility: (count) => `Ändern, wer ${items(count)} sieht?`,
    collect: (count) => `${items(count)} in die Sammlung aufnehmen?`,
    delete: (count) => `${items(count)} in den Papierkorb legen?`,
  },
  goOn: 'Ja',
  undo: 'Rückgängig',
  done: {
    'add-tag': (count) => `Schlagwort ${toItems(count)} gegeben.`,
    'remove-tag': (count) => `Schlagwort von ${toItems(count)} entfernt.`,
    category: (count) => `Kategorie von ${toItems(count)} gesetzt.`,
    visibility: (count) => `Sichtbarkeit von ${toItems(count)} gesetzt.`,
    collect: (count) => `${items(count)} in die Sammlung aufgenommen.`,
    delete: (count) => `${items(count)} in den Papierkorb gelegt.`,
    undo: (count) => `Für ${items(count)} rückgängig gemacht.`,
  },
  unchanged: (count) => (count === 1 ? '1 Eintrag war schon so.' : `${items(count)} waren schon so.`),
  refused: (count) => `Bei ${toItems(count)} nicht möglich:`,
  missing: 'Ein Eintrag, den es nicht mehr gibt',
  more: (count) => `und ${number(count)} weitere`,
}
