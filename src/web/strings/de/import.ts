import { formatsOf } from '../../formats.ts'
import type { IMPORT_WORDS } from '../import.ts'

const { number } = formatsOf('de')

/** Importing files on a page, in German. */
export const IMPORT_WORDS_DE: typeof IMPORT_WORDS = {
  title: 'Importieren',
  menu: 'Dateien importieren',
  lead: 'Hol Prompts und Skills aus Dateien. Du siehst, was passieren würde, bevor etwas gespeichert wird.',
  files: 'Dateien',
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
  all: 'Alle',
  plan: 'Noch ist nichts gespeichert. Das würde der Import tun. Die Dateien bleiben 15 Minuten.',
  nothingToDo: 'Es gibt nichts zu importieren: Alles ist schon in deiner Bibliothek oder wurde abgelehnt.',
  start: (n) => (n === 1 ? '1 Eintrag importieren' : `${number(n)} Einträge importieren`),
  over: 'Der Import ist fertig.',
  again: 'Andere Dateien importieren',
  toLibrary: 'Zu meiner Bibliothek',
  starter: 'Startbibliothek laden',
}
