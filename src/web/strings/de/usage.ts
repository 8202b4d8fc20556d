import { formatsOf } from '../../formats.ts'
import type { USAGE_WORDS } from '../usage.ts'

const { number } = formatsOf('de')

/** Counts of uses and their charts, in German. */
export const USAGE_WORDS_DE: typeof USAGE_WORDS = {
  title: 'Letzte 30 Tage',
  use: 'Nutzung',
  usedHint: 'Von seiner Seite kopiert oder von Programmen gelesen. Nur du siehst das.',
  ways: (copies, reads, views) =>
    `Letzte 30 Tage: ${number(views)} × angesehen, ${number(copies)} × kopiert, ${number(reads)} × über die API gelesen`,
  wayNames: { copies: 'Kopiert', reads: 'Gelesen', views: 'Angesehen' },
  calls: (count) => (count === 1 ? '1 Aufruf in 30 Tagen' : `${number(count)} Aufrufe in 30 Tagen`),
  callsOf: (name) => `Aufrufe mit ${name} nach Tag`,
  charts: {
    newItems: 'Neue Einträge',
    searches: 'Suchen',
    mcpCalls: 'MCP-Aufrufe',
    restCalls: 'REST-Aufrufe',
    views: 'Ansichten',
    copies: 'Kopien',
    signIns: 'Anmeldungen',
    errors: 'Fehler',
  },
  emptySearches: 'ohne Treffer',
  emptyCount: (count) => `${number(count)} ohne Treffer`,
  byDay: (what) => `${what} nach Tag`,
  most: (count, day) => `Die meisten am ${day}: ${number(count)}.`,
  none: 'Keine.',
  day: 'Tag (UTC)',
  asTable: 'Als Tabelle',
  off: 'Es wird nichts gezählt: USAGE_COUNTS ist aus.',
  lag: 'Tage sind in UTC. Die letzte Minute ist noch nicht gezählt.',
}
