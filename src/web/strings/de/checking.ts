import type { CHECKING_WORDS } from '../checking.ts'

import { number } from './count.ts'

/** The check of a set of skills, in German. */
export const CHECKING_WORDS_DE: typeof CHECKING_WORDS = {
  title: 'Prüfung einer Auswahl',
  link: 'Diese Auswahl prüfen',
  counts: (high, medium, low) => `${number(high)} schwer, ${number(medium)} mittel, ${number(low)} leicht`,
  levels: { high: 'schwer', medium: 'mittel', low: 'leicht' },
  cut: 'Nur die ersten 1.000 Skills wurden geprüft.',
  pending: (n) => `Noch nicht verglichene Skills: ${number(n)}. Lade die Seite später neu.`,
  noEncoder: 'Die Bedeutung der Skills wird nicht verglichen: Dieser Dienst hat keinen eingebauten Encoder.',
  listing: 'Auflistung',
  listingLead: 'Agenten listen Namen und Beschreibungen in einem Budget auf, hier bei einem Kontext von 200.000 Token.',
  custom: 'Dein Budget',
  used: {
    characters: (cost, limit) => `${number(cost)} von ${number(limit)} Zeichen`,
    tokens: (cost, limit) => `${number(cost)} von ${number(limit)} Token`,
  },
  shortened: (n) => `Gekürzte Beschreibungen: ${number(n)}`,
  dropped: (n) => `Weggelassene Beschreibungen: ${number(n)}`,
  omitted: (n) => `Nicht aufgelistete Skills: ${number(n)}`,
  inOrder: 'In dieser Reihenfolge',
  budget: 'Dein Budget in Zeichen',
  check: 'Prüfen',
  rules: {
    same: 'Derselbe Name',
    hyphens: 'Namen unterscheiden sich nur durch Bindestriche',
    plural: 'Namen unterscheiden sich nur durch den Plural',
    'one-letter': 'Namen unterscheiden sich durch einen Buchstaben',
    alike: 'Zu ähnlich: Perzentil unter allen Paaren und gemeinsame Wörter',
    'too-long': 'Beschreibung hat mehr als 1.024 Zeichen',
    blurred: 'Beschreibung sagt nicht, was der Skill tut',
    short: 'Beschreibung ist zu kurz, um danach zu wählen',
    'no-when': 'Beschreibung sagt nicht, wann man ihn verwendet',
    'first-person': 'Beschreibung steht in der ersten Person',
    misrouted: 'Der erste soll diese Anfrage beantworten, ein anderer tut es',
  },
  routing: (hits, queries) => `Zuordnung: ${number(hits)} von ${number(queries)} Anfragen erreichen ihren Skill`,
  none: 'Nichts gefunden.',
}
