import type { IMPORT_WORDS, LIBRARY_WORDS, PURGE_WORDS } from '../library.ts'
import { count, number } from './count.ts'

const items = (n: number) => count(n, 'Eintrag', 'Einträge')
/** After a preposition with the dative. */
const toItems = (n: number) => count(n, 'Eintrag', 'Einträgen')

/** The page of one's own items, where many are changed together, in German. */
export const LIBRARY_WORDS_DE: typeof LIBRARY_WORDS = {
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
}

/** Deleting an item or its history for good, in German. */
export const PURGE_WORDS_DE: typeof PURGE_WORDS = {
  lead: (title) => `„${title}“ ganz oder teilweise zu löschen lässt sich nicht rückgängig machen, auch nicht von der Administration.`,
  copies: ({ backups, upgrades, replaced }) =>
    [
      ...(backups > 0 ? [`Sicherungen, die es noch enthalten können, bis neuere sie ersetzen: ${backups}.`] : []),
      ...(upgrades + replaced > 0
        ? [`Ältere Kopien der Bibliothek, die es noch enthalten können, bis die Administration sie löscht: ${upgrades + replaced}.`]
        : []),
      'Kopien, die andere gemacht haben oder die anderswo liegen, bleiben unberührt.',
    ].join(' '),
  versionsLead: (newest) =>
    `Version ${newest} ist die neueste und bleibt. Als letzte hier verliert sie ihre früheren Tags und Kategorien. Versionen werden nicht neu nummeriert.`,
  first: 'Von Version',
  last: 'Bis Version',
  deleteVersions: 'Diese Versionen endgültig löschen',
  file: 'Eine Datei in älteren Versionen',
  fileLead: 'Ist ein Geheimnis in eine Datei geraten: Ändere oder entferne zuerst die Datei, dann lösche hier ihre älteren Inhalte.',
  filename: 'Dateiname',
  deleteFile: 'Ältere Inhalte endgültig löschen',
  all: 'Der ganze Eintrag',
  allLead: 'Das löscht jede Version, Stimme und Datei. Eine öffentliche Adresse wird nie wieder vergeben.',
  deleteAll: 'Ganzen Eintrag endgültig löschen',
  sure: 'Mir ist klar, dass sich das nicht rückgängig machen lässt',
  beSure: 'Kreuze zuerst das Kästchen an: Das lässt sich nicht rückgängig machen.',
  linkOf: (title) => `${title} endgültig löschen`,
  history: 'Ältere Versionen endgültig löschen',
}

/** Importing files on a page, in German. */
export const IMPORT_WORDS_DE: typeof IMPORT_WORDS = {
  title: 'Importieren',
  menu: 'Dateien importieren',
  lead: 'Hol Prompts und Skills aus Dateien. Du siehst, was passieren würde, bevor etwas gespeichert wird.',
  filesHint:
    'CSV, JSON oder JSONL mit Prompts, Markdown-, .prompt.yml-, .prompt- und .prompty-Dateien mit je einem Prompt, oder Zips davon und von Skills. Bis zu 10 MiB auf einmal; größere Importe laufen über die Befehlszeile.',
  folder: 'Oder ein Ordner',
  folderHint: 'Jeder Ordner mit einer SKILL.md wird ein Skill.',
  drop: 'Du kannst Dateien und Ordner auch irgendwo auf diese Seite ziehen.',
  reading: 'Wird gelesen …',
  failed: 'Die Dateien konnten nicht gesendet werden. Prüfe deine Verbindung und versuche es noch einmal.',
  visibility: 'Sichtbarkeit neuer Einträge',
  asInFiles: 'Wie in den Dateien, sonst dein Standard',
  check: 'Dateien prüfen',
  chooseFiles: 'Wähle mindestens eine Datei.',
  help: 'Welche Spalten und Felder gelesen werden',
  outcomes: {
    planned: { created: 'Neu', updated: 'Geändert', unchanged: 'Unverändert', kept: 'Behalten', refused: 'Abgelehnt' },
    done: { created: 'Erstellt', updated: 'Aktualisiert', unchanged: 'Unverändert', kept: 'Behalten', refused: 'Abgelehnt' },
  },
  means: {
    created: 'ist noch nicht in deiner Bibliothek',
    updated: 'unterscheidet sich von deinem früheren Import',
    unchanged: 'ist schon in deiner Bibliothek',
    kept: 'bleibt in deiner Bibliothek, wie es ist',
    refused: 'lässt sich nicht importieren',
  },
  columns: { outcome: 'Ergebnis', title: 'Titel', name: 'Wo', remark: 'Anmerkung' },
  plan: 'Noch ist nichts gespeichert. Das würde der Import tun. Die Dateien bleiben 15 Minuten.',
  nothingToDo: 'Es gibt nichts zu importieren: Alles ist schon in deiner Bibliothek oder wurde abgelehnt.',
  start: (n) => count(n, 'Eintrag importieren', 'Einträge importieren'),
  over: 'Der Import ist fertig.',
  again: 'Andere Dateien importieren',
  toLibrary: 'Zu meiner Bibliothek',
  starter: 'Startbibliothek laden',
}
