import type { API_WORDS } from '../api.ts'

/** The texts of the API reference, in German. */
export const API_WORDS_DE: typeof API_WORDS = {
  keyLead:
    'Sende einen API-Schlüssel im Header X-API-Key oder als „Authorization: Bearer cpb_…“. Viele Routen funktionieren ohne Schlüssel und liefern öffentliche Daten.',
  inputLead:
    'GET und DELETE nehmen ihre Eingaben aus der Adresse, andere Methoden aus einem JSON-Body. Listen in der Adresse werden durch Kommas getrennt. Filter nehmen Slugs oder Namen, groß oder klein geschrieben; ist einer unbekannt, nennt „hints“ in der Antwort die gültigen Werte.',
  document: 'OpenAPI-Dokument',
  healthLead: 'Zustand und Metriken des Dienstes',
  groups: {
    prompts: 'Prompts',
    skills: 'Skills',
    collections: 'Sammlungen',
    items: 'Versionen, Stimmen, Favoriten und der Papierkorb',
    names: 'Kategorien und Schlagwörter',
    listings: 'Vollständige Listen',
    checks: 'Prüfungen',
    teams: 'Teams',
    account: 'Dein Konto',
    channels: 'Installationslinks',
    embeds: 'Einbettungen',
    other: 'Andere Routen',
  },
  access: {
    none: 'Kein Schlüssel nötig.',
    optional: 'Kein Schlüssel nötig; mit einem sind auch deine privaten Einträge dabei.',
    required: 'Braucht einen Schlüssel.',
  },
  scope: (scope) => `Braucht einen Schlüssel mit dem Recht „${scope}“.`,
  parameters: 'Parameter',
  body: 'JSON-Body',
  required: 'Pflicht',
  optional: 'optional',
  inPath: 'im Pfad',
  answer: 'Antwort',
  or: 'oder',
  listOf: (kind) => `Liste von ${kind}`,
  from: (least) => `ab ${least}`,
  range: (least, most) => `${least} bis ${most}`,
  characters: (range) => `${range} Zeichen`,
  atMost: (most) => `höchstens ${most}`,
  standard: (value) => `Standard: ${value}`,
  errors: 'Fehler',
  errorsLead: 'Alle Fehler haben denselben Aufbau.',
  errorsMore: 'Fehlercodes und Status',
}
