import type { FINDING_WORDS } from '../findings.ts'

import { number } from './count.ts'

/** Rules that block a version; none when their levels changed since. */
const inBrackets = (rules: string) => (rules === '' ? '' : ` (${rules})`)

/** Findings of the check: of an item, its rules and their levels, in German. */
export const FINDING_WORDS_DE: typeof FINDING_WORDS = {
  check: 'Prüfung',
  counts: (high, medium, low) =>
    [
      high === 0 ? [] : [`${number(high)} schwer`],
      medium === 0 ? [] : [`${number(medium)} mittel`],
      low === 0 ? [] : [`${number(low)} leicht`],
      high + medium + low === 0 ? ['keine Befunde'] : [],
    ]
      .flat()
      .join(', '),
  acceptedCount: (count) => `${number(count)} akzeptiert`,
  notChecked: 'noch nicht geprüft',
  findings: 'Befunde',
  findingsOf: (title) => `Befunde zu ${title}`,
  ofVersion: (version) => `Befunde zu Version ${version}.`,
  none: 'Keine Befunde.',
  rules: 'Regeln der Prüfung',
  rulesLead: 'Wonach die Prüfung in Prompts und Skills sucht. Zu jeder Regel steht ein Beispiel, das sie findet.',
  exampleIn: (file) => `Beispiel, in ${file}`,
  files: { prompt: 'Text', description: 'Titel und Beschreibung' },
  ruleAt: (rule, line) => `${rule}, Zeile ${number(line)}`,
  blocked: 'gesperrt',
  blockedNewest: (version, rules, served) =>
    `Die Prüfung sperrt Version ${version}${inBrackets(rules)}. Andere sehen Version ${served}, wie auf dieser Seite.`,
  blockedHere: (version, rules, served) => `Die Prüfung sperrt Version ${version}${inBrackets(rules)}. Andere sehen Version ${served}.`,
  blockedLabel: (version) => `Andere bekommen Version ${version} nicht über ihr Label: Die Prüfung sperrt sie.`,
  blockedVersion: 'Die Prüfung sperrt diese Version: Andere sehen sie nicht, auch nicht über ein Label.',
  blockedPrivate: (rules) =>
    `Die Prüfung sperrt diese Version (${rules}). Sie bleibt privat, bis die Befunde behoben oder akzeptiert sind.`,
  highCount: (count) => `Die Prüfung meldet ${number(count)} ${count === 1 ? 'schweren Befund' : 'schwere Befunde'}.`,
  seeFindings: 'Befunde ansehen',
  ofServed: (version) => `Befunde zu Version ${version}, die andere sehen`,
  ofNewest: 'Befunde zur neuesten Version',
  hidden: 'Befunde, die die neueste Version sperren',
  hiddenLead: 'Diese Version und die Fundstellen sieht nur, wem der Eintrag gehört. Du kannst akzeptieren, was sie sperrt.',
  accept: 'Akzeptieren',
  acceptOf: (rule, line) => `${rule} in Zeile ${line} akzeptieren`,
  acceptTitle: 'Befunde akzeptieren',
  acceptLead: 'Kreuze oben Befunde an und schreibe, warum sie hier richtig sind. Andere sehen, dass sie akzeptiert sind, nicht warum.',
  highIsForAdmins: 'Schwere Befunde akzeptiert die Administration.',
  reason: 'Grund',
  days: 'Tage',
  daysHint: 'Höchstens 366. Leer: ohne Ende.',
  acceptTicked: 'Angekreuzte akzeptieren',
  nothingTicked: 'Kreuze mindestens einen Befund an.',
  accepted: 'akzeptiert',
  acceptedTitle: 'Akzeptierte Befunde',
  acceptedLead: 'Das endet auch, wenn sich der Text, seine Zeile, die Regel oder der Besitzer ändert.',
  formerMember: 'einem gelöschten Konto',
  until: 'bis',
  end: 'Beenden',
  endOf: (rule) => `${rule} nicht mehr akzeptieren`,
  endMeans: 'Der Befund zählt wieder. Was andere sehen, bleibt, bis es die Administration sperrt.',
  levels: 'Stufen der Regeln',
  levelNames: { off: 'Aus', warn: 'Warnen', block: 'Sperren' },
  levelOf: (rule) => `Stufe von ${rule}`,
  levelsLead:
    '„Aus“ lässt die Befunde einer Regel weg, „Warnen“ zeigt sie, und „Sperren“ behält eine neue Version ihrem Besitzer vor. Was andere schon sehen, bleibt, bis du es oben bestätigst.',
  teamLevelsLead: 'Das Team kann strenger sein als der Dienst. „Sperren“ behält eine neue Version dem Team vor.',
  saveLevels: 'Stufen speichern',
  changes: 'Geänderte Ergebnisse',
  changesLead: 'Einträge, die andere sehen und deren Befunde sich mit den Regeln oder ihren Stufen geändert haben.',
  noChanges: 'Nichts hat sich geändert.',
  due: 'zu sperren',
  now: (rules) => `jetzt ${rules}`,
  before: (rules) => `vorher ${rules}`,
  nothing: 'nichts',
  blockOf: (title) => `${title} sperren`,
  blockMeans: 'Andere bekommen die letzte Version, die die Prüfung erlaubt. Gibt es keine, wird der Eintrag privat.',
  blockAll: (count) => `Diese ${number(count)} sperren`,
  dismiss: 'Liste verwerfen',
  dismissHint: 'Was zu sperren ist, bleibt darin.',
}
