import type { PURGE_WORDS } from '../purge.ts'

/** Deleting an item or its history for good, in German. */
export const PURGE_WORDS_DE: typeof PURGE_WORDS = {
  title: 'Endgültig löschen',
  lead: (title) => `„${title}“ ganz oder teilweise zu löschen lässt sich nicht rückgängig machen, auch nicht von der Administration.`,
  copies: ({ backups, upgrades, replaced }) =>
    [
      ...(backups > 0 ? [`Sicherungen, die es noch enthalten können, bis neuere sie ersetzen: ${backups}.`] : []),
      ...(upgrades + replaced > 0
        ? [`Ältere Kopien der Bibliothek, die es noch enthalten können, bis die Administration sie löscht: ${upgrades + replaced}.`]
        : []),
      'Kopien, die andere gemacht haben oder die anderswo liegen, bleiben unberührt.',
    ].join(' '),
  versions: 'Ältere Versionen',
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
  link: 'Endgültig löschen',
  linkOf: (title) => `${title} endgültig löschen`,
  history: 'Ältere Versionen endgültig löschen',
}
