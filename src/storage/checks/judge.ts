import { createHmac, hash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { checkFile, checkSteps, type FileReport, inTurns, joinReports, MAX_FINDINGS, promptFile } from '../../check/check-files.ts'
import type { CheckedFile } from '../../check/file-view.ts'
import { RULE_SET } from '../../check/rules/index.ts'
import {
  countFindings,
  type Levels,
  levelOf,
  type MarkedFinding,
  SEVERITIES,
  type ServedVerdict,
  type Verdict,
} from '../../domain/check/findings.ts'
import type { SkillFile } from '../../domain/skills/skill.ts'
import { readValue } from '../kept-values.ts'
import { batches, preparePut, prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'

/** Bytes that a write checks in its turn: about a millisecond. More is checked before it. */
const MAX_IN_TURN = 16 * 1024
/** Findings that are kept of files that were checked. */
const MAX_KEPT_FINDINGS = 20_000

/** Reports by digest: most files of a skill that changes are as they were. */
const reports = new LRUCache<string, FileReport>({
  maxSize: MAX_KEPT_FINDINGS,
  sizeCalculation: ({ findings }) => findings.length + 1,
})

function keyOf({ filename, bytes, isPrompt = false }: CheckedFile): string {
  return hash('sha256', Buffer.concat([Buffer.from(`${RULE_SET}\0${isPrompt}\0${filename}\0`), bytes]))
}

/** A write met files that were not checked, and are too large to be checked in its turn. */
class NotChecked extends Error {
  readonly files: readonly CheckedFile[]
  constructor(files: readonly CheckedFile[]) {
    super('These files are to be checked first')
    this.files = files
  }
}

function* reportSteps(files: readonly CheckedFile[]): Generator<void, Checked> {
  const made = new Map<string, FileReport>()
  for (const file of files) {
    const key = keyOf(file)
    const report = reports.get(key) ?? (yield* checkSteps(file))
    reports.set(key, report)
    made.set(key, report)
    yield
  }
  return made
}

/** Checks files in turns with other work. */
export async function checkInTurns(files: readonly CheckedFile[]): Promise<Checked> {
  return await inTurns(reportSteps(files))
}

/** Reports of files that a write has checked before its turn. */
export type Checked = ReadonlyMap<string, FileReport>

/** Runs a write; where it meets files that are to be checked first, checks them and runs it again. */
export async function withChecks<T>(run: (checked: Checked) => Promise<T>): Promise<T> {
  let checked: Checked = new Map()
  for (;;) {
    try {
      return await run(checked)
    } catch (error) {
      if (!(error instanceof NotChecked)) throw error
      // The state may have changed meanwhile, so that it meets others.
      checked = new Map([...checked, ...(await checkInTurns(error.files))])
    }
  }
}

function findingsOf(files: readonly CheckedFile[], checked: Checked): MarkedFinding[] {
  const found = files.map((file) => ({ file, report: checked.get(keyOf(file)) ?? reports.get(keyOf(file)) }))
  const missing = found.flatMap(({ file, report }) => (report ? [] : [file]))
  if (missing.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_IN_TURN) throw new NotChecked(missing)
  return joinReports(
    found.map(({ file, report }) => {
      const made = report ?? checkFile(file)
      if (!report) reports.set(keyOf(file), made)
      return made
    }),
  )
}

const levelRows = prepareQuery((db) =>
  db
    .selectFrom('check_level')
    .select(['owner_seq', 'rule', 'level'])
    .where((eb) => eb.or([eb('owner_seq', 'is', null), eb('owner_seq', '=', sql<number>`${slot('owner')}`)])),
)
const waiverRows = prepareQuery((db) =>
  db
    .selectFrom('waiver')
    .leftJoin('user', 'user.seq', 'waiver.user_seq')
    .select(['waiver.rule', 'waiver.evidence', 'waiver.severity', 'waiver.reason', 'waiver.until', 'user.username'])
    .where('waiver.item_seq', '=', sql<number>`${slot('item')}`),
)

/** The levels of rules of the service and of an owner. */
export async function readLevels(db: Kysely<Database>, ownerSeq: number): Promise<{ service: Levels; own: Levels }> {
  const rows = await levelRows(db, { owner: ownerSeq })
  const of = (isOwn: boolean) => new Map(rows.filter((row) => (row.owner_seq !== null) === isOwn).map(({ rule, level }) => [rule, level]))
  return { service: of(false), own: of(true) }
}

/** The HMAC of a finding's evidence with its line, as waivers keep it. */
export async function sealMark(db: Kysely<Database>, mark: string): Promise<string> {
  return createHmac('sha256', `waivers ${(await readValue(db, 'sealing_key')) ?? ''}`)
    .update(mark)
    .digest('hex')
}

/** An item that is judged; `seq` null: it is not there yet. */
export interface Judged {
  readonly seq: number | null
  readonly ownerSeq: number
}

/**
 * The verdict on a text or files of an item, under the levels of its owner and its waivers.
 * @param now in ISO 8601: waivers end
 * @throws NotChecked for files that are to be checked first
 */
export async function judge(
  db: Kysely<Database>,
  item: Judged,
  files: readonly CheckedFile[],
  now: string,
  checked: Checked = new Map(),
): Promise<Verdict> {
  const all = findingsOf(files, checked)
  if (all.length === 0) return { findings: [], blocking: [] }
  const { service, own } = await readLevels(db, item.ownerSeq)
  const waivers = item.seq === null ? [] : await waiverRows(db, { item: item.seq })
  const findings: MarkedFinding[] = []
  for (const finding of all) {
    if (levelOf(finding.rule, service, own) === 'off') continue
    const ofRule = waivers.filter(({ rule, until }) => rule === finding.rule && (until === null || until > now))
    const sealed = ofRule.length > 0 ? await sealMark(db, finding.mark) : null
    const waiver = ofRule.find(
      ({ evidence, severity }) => evidence === sealed && SEVERITIES.indexOf(finding.severity) >= SEVERITIES.indexOf(severity),
    )
    findings.push(waiver ? { ...finding, waived: { reason: waiver.reason, by: waiver.username ?? '', until: waiver.until } } : finding)
  }
  // All of them decide; some are shown.
  return {
    findings: findings.slice(0, MAX_FINDINGS),
    blocking: findings.filter(({ rule, waived }) => !waived && levelOf(rule, service, own) === 'block'),
  }
}

/** The texts of a state, as the check reads them: a skill's files, or a prompt's text, and the words that lists show. */
export function filesToCheck(state: {
  readonly title: string
  readonly description: string | null
  readonly content?: string
  readonly files?: readonly SkillFile[] | null
}): readonly CheckedFile[] {
  const shown = promptFile(`${state.title}\n${state.description ?? ''}`, 'description')
  return state.content === undefined ? [...(state.files ?? []), shown] : [promptFile(state.content), shown]
}

const putVerdict = preparePut('verdict', 'item_seq')

/** A verdict as it is stored. */
export async function writeVerdict(
  db: Kysely<Database>,
  item: { readonly seq: number; readonly version: number },
  { findings, blocking }: Verdict,
  { isDue = false, before = null }: { readonly isDue?: boolean; readonly before?: string | null } = {},
): Promise<void> {
  const rules = JSON.stringify([...new Set(findings.filter(({ waived }) => !waived).map(({ rule }) => rule))].sort())
  await putVerdict(db, {
    item_seq: item.seq,
    version: item.version,
    rule_set: RULE_SET,
    ...countFindings(findings),
    rules,
    rules_before: before === rules ? null : before,
    is_due: isDue && blocking.length > 0 ? 1 : 0,
  })
}

/** Findings as the end of a sentence: at most three rules with their places. */
export function nameFindings(findings: readonly MarkedFinding[]): string {
  const named = findings.slice(0, 3).map(({ rule, file, line }) => `${rule} (${file}, line ${line})`)
  return findings.length > 3 ? `${named.join(', ')} and ${findings.length - 3} more` : named.join(', ')
}

/** The verdicts on versions that are served, by row number. An item that was not checked yet is left out. */
export async function readVerdicts(db: Kysely<Database>, seqs: readonly number[]): Promise<ReadonlyMap<number, ServedVerdict>> {
  const found = new Map<number, ServedVerdict>()
  for (const part of batches(seqs)) {
    const rows = await selectVerdicts(db).where('item_seq', 'in', part).execute()
    for (const { seq, id: _, ...verdict } of rows) found.set(seq, verdict)
  }
  return found
}

/** Selects verdicts as they are served, with the number and the id of their item. */
export function selectVerdicts(db: Kysely<Database>) {
  return db
    .selectFrom('verdict')
    .innerJoin('item', 'item.seq', 'verdict.item_seq')
    .select(['item.seq', 'item.id', 'verdict.version', 'rule_set as ruleSet', 'high', 'medium', 'low', 'waived'])
}
