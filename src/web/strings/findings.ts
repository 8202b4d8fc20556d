import { number } from './count.ts'

/** Rules that block a version; none when their levels changed since. */
const inBrackets = (rules: string) => (rules === '' ? '' : ` (${rules})`)

/** Findings of the check: of an item, its rules and their levels. */
export const FINDING_WORDS = {
  check: 'Check',
  counts: (high: number, medium: number, low: number) =>
    [
      high === 0 ? [] : [`${number(high)} high`],
      medium === 0 ? [] : [`${number(medium)} medium`],
      low === 0 ? [] : [`${number(low)} low`],
      high + medium + low === 0 ? ['no findings'] : [],
    ]
      .flat()
      .join(', '),
  acceptedCount: (count: number) => `${number(count)} accepted`,
  notChecked: 'not checked yet',
  findings: 'Findings',
  findingsOf: (title: string) => `Findings of ${title}`,
  ofVersion: (version: number) => `Findings of version ${version}.`,
  none: 'No findings.',
  rules: 'Rules of the check',
  rulesLead: 'What the check looks for in prompts and skills. Each rule has an example that it finds.',
  exampleIn: (file: string) => `Example, in ${file}`,
  files: { prompt: 'Text', description: 'Title and description' },
  ruleAt: (rule: string, line: number) => `${rule}, line ${number(line)}`,
  blocked: 'blocked',
  blockedNewest: (version: number, rules: string, served: number) =>
    `The check blocks version ${version}${inBrackets(rules)}. Others see version ${served}, as on this page.`,
  blockedHere: (version: number, rules: string, served: number) =>
    `The check blocks version ${version}${inBrackets(rules)}. Others see version ${served}.`,
  blockedLabel: (version: number) => `Others do not get version ${version} by its label: the check blocks it.`,
  blockedVersion: 'The check blocks this version: others do not see it, nor find it by a label.',
  blockedPrivate: (rules: string) => `The check blocks this version (${rules}). It stays private until the findings are fixed or accepted.`,
  seeFindings: 'See findings',
  ofServed: (version: number) => `Findings of version ${version}, which others see`,
  ofNewest: 'Findings of the newest version',
  hidden: 'Findings that block the newest version',
  hiddenLead: 'Only its owner sees that version and the evidence. You can accept what blocks it.',
  accept: 'Accept',
  acceptOf: (rule: string, line: number) => `Accept ${rule} in line ${line}`,
  acceptTitle: 'Accept findings',
  acceptLead: 'Tick findings above, and say why they are acceptable. Others see that they were accepted, but not the reason.',
  highIsForAdmins: 'Administrators accept findings of high severity.',
  reason: 'Reason',
  days: 'Days',
  daysHint: 'At most 366. Leave empty if it should not expire.',
  acceptTicked: 'Accept ticked findings',
  nothingTicked: 'Tick at least one finding.',
  accepted: 'accepted',
  acceptedTitle: 'Accepted findings',
  acceptedLead: 'An acceptance also ends when the text, its line, the rule or the owner changes.',
  formerMember: 'a deleted account',
  until: 'until',
  end: 'End',
  endOf: (rule: string) => `End ${rule}`,
  endMeans: 'The finding counts again. The current version stays available until an administrator blocks it.',
  levels: 'Levels of rules',
  levelNames: { off: 'Off', warn: 'Warn', block: 'Block' },
  levelOf: (rule: string) => `Level of ${rule}`,
  levelsLead:
    'Off hides the findings of a rule, Warn shows them, and Block hides a new version from everyone but its owner. Versions already available stay so until you confirm above.',
  teamLevelsLead: 'The team can be stricter than the service. Block hides a new version from everyone outside the team.',
  saveLevels: 'Save levels',
  changes: 'Changed verdicts',
  changesLead: 'Items that others see and whose findings changed with the rules or their levels.',
  noChanges: 'Nothing changed.',
  due: 'to be blocked',
  now: (rules: string) => `now ${rules}`,
  before: (rules: string) => `before ${rules}`,
  nothing: 'nothing',
  blockOf: (title: string) => `Block ${title}`,
  blockMeans: 'Others get the last version that the check allows. Without one, the item becomes private.',
  blockAll: (count: number) => `Block these ${number(count)}`,
  dismiss: 'Dismiss the list',
  dismissHint: 'Items still to be blocked stay listed.',
}
