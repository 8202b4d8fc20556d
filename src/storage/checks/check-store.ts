import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { joinReports, MAX_FINDINGS } from '../../check/check-files.ts'
import { RULE_SET } from '../../check/rules/index.ts'
import {
  LEVELS,
  type Level,
  levelOf,
  type MarkedFinding,
  type ServedVerdict,
  type Verdict,
  type Waiver,
} from '../../domain/check/findings.ts'
import type { FullVersion, Item, ItemKind } from '../../domain/items/items.ts'
import type { SearchResult } from '../../domain/items/search.ts'
import { audienceOf, isNarrower, visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import type { SkillFile } from '../../domain/skills/skill.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { readFiles } from '../items/item-parts.ts'
import {
  countRows,
  findLiveRow,
  type ItemRow,
  isInVisibleSet,
  readItemsInOrder,
  readPage,
  selectItems,
  textsJson,
  toItems,
} from '../items/item-rows.ts'
import { readVersion } from '../items/read-versions.ts'
import type { WriteContext } from '../items/write-context.ts'
import { writeItems } from '../items/write-items.ts'
import { findUserSeq, seqOfUser } from '../people/user-rows.ts'
import { batches, prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { checkInTurns, filesToCheck, judge, readLevels, sealMark, selectVerdicts, withChecks, writeVerdict } from './judge.ts'

/** Findings of one item that somebody accepted. */
const MAX_WAIVERS = 100
/** Names that a name is compared with. */
const MAX_NAMES = 2000

const storedVerdict = prepareQuery((db) =>
  db
    .selectFrom('verdict')
    .innerJoin('item', 'item.seq', 'verdict.item_seq')
    .select(['verdict.version', 'verdict.high', 'verdict.medium', 'verdict.low', 'item.visibility'])
    .where('item.id', '=', slot('id')),
)

/** An item whose verdict another rule set or level changed. */
export interface ChangedVerdict {
  readonly item: Item
  /** Ids of rules. */
  readonly found: readonly string[]
  readonly before: readonly string[]
  /** Whether it is to be blocked once an administrator confirms it. */
  readonly isDue: boolean
}

/** A version as a change of its item. */
function toChange({ title, description, type, body, files }: FullVersion) {
  return { title, description, ...body, ...(type && { type }), ...(files && { files }) }
}

/** The texts of a version, as the check reads them. */
const toCheck = ({ title, description, body, files }: FullVersion) =>
  filesToCheck({ title, description, files, ...(body && { content: body.content }) })

/** Notes that items are to be checked again. */
async function setOutdated(db: Kysely<Database>, items: SelectQueryBuilder<Database, never, { seq: number } | { item_seq: number }>) {
  await db.updateTable('verdict').set({ rule_set: 0 }).where('item_seq', 'in', items).execute()
}

/** Verdicts on items, findings that people accept, and the levels of rules. */
export function checkStore(reader: Kysely<Database>, context: WriteContext) {
  const items = writeItems(context)
  const ownerSeq = async (db: Kysely<Database>, ownerId: string | null) => (ownerId === null ? null : await seqOfUser(db, ownerId))
  const served = async (row: ItemRow) => {
    const [item] = await toItems(reader, [row])
    const { title, description } = row
    return item?.kind === 'prompt'
      ? filesToCheck({ title, description, content: item.content })
      : filesToCheck({ title, description, files: await readFiles(reader, row.seq) })
  }
  const judgeRow = (row: ItemRow, files: ReturnType<typeof filesToCheck>): Promise<Verdict> =>
    withChecks((checked) => judge(reader, { seq: row.seq, ownerSeq: row.owner_seq }, files, context.now(), checked))
  /** Serves the newest text where nothing blocks it any more. */
  const release = async (row: ItemRow, userId: string) => {
    if (row.blocked_version === null) return
    const version = await readVersion(reader, row.seq, row.blocked_version)
    if (!version || (await judgeRow(row, toCheck(version))).blocking.length > 0) return
    await items.changeItem(row.kind, row.id, { userId, note: null, makesVersion: true }, () => ({}))
  }
  const refresh = async (row: ItemRow, before: string | null = null) => {
    const verdict = await judgeRow(row, await served(row))
    await context.sideTransaction(async (db) => {
      const [still] = await db.selectFrom('item').select('version').where('seq', '=', row.seq).execute()
      // A save that came between has written its own.
      if (still?.version === row.version) await writeVerdict(db, row, verdict, { isDue: row.visibility !== 'private', before })
    })
  }
  /** Serves the newest text of an item in the name of who wrote it. */
  const releaseForAuthor = async (row: ItemRow) => {
    if (row.blocked_version === null) return
    const author = await reader
      .selectFrom('version')
      .innerJoin('user', 'user.seq', 'version.author_seq')
      .select('user.id')
      .where('item_seq', '=', row.seq)
      .where('number', '=', row.blocked_version)
      .executeTakeFirst()
    if (author) await release(row, author.id)
  }
  /** Ends what was accepted for a time that is over: its items are checked again. */
  const endOldWaivers = async () => {
    const over = context.now()
    if (!(await reader.selectFrom('waiver').select('seq').where('until', '<=', over).limit(1).executeTakeFirst())) return
    await context.sideTransaction(async (db) => {
      await setOutdated(db, db.selectFrom('waiver').select('item_seq').where('until', '<=', over))
      await db.deleteFrom('waiver').where('until', '<=', over).execute()
    })
  }
  return {
    /** Names of skills that the actor finds in lists, with their owners; at most 2,000. */
    async listSkillNames(actor: Actor): Promise<readonly { readonly id: string; readonly name: string; readonly owner: string }[]> {
      return await reader
        .selectFrom('item')
        .innerJoin('user', 'user.seq', 'item.owner_seq')
        .select((eb) => ['item.id', eb.ref('item.skill_name').$notNull().as('name'), 'user.username as owner'])
        .where('item.skill_name', 'is not', null)
        .where((eb) => isInVisibleSet(visibleSet(actor, 'list'))(eb as never))
        .orderBy('item.seq')
        .limit(MAX_NAMES)
        .execute()
    },
    /** Findings in files that are in no library, under no levels. */
    async checkGiven(files: readonly SkillFile[]): Promise<MarkedFinding[]> {
      return joinReports([...(await checkInTurns(files)).values()]).slice(0, MAX_FINDINGS)
    },
    /** The verdict on a version of an item: the one that is served, or another. The caller checks who may see it. */
    async judgeItem(id: string, number?: number): Promise<Verdict> {
      const row = await findLiveRow(reader, id)
      if (!row) return { findings: [], blocking: [] }
      const version = number === undefined || number === row.version ? null : await readVersion(reader, row.seq, number)
      return await judgeRow(row, version ? toCheck(version) : await served(row))
    },
    /** Whether a version that was just saved has findings to tell, by what was stored with it: above low severity, or any of a private item. */
    async hasFindings(id: string, version: number): Promise<boolean> {
      const [row] = await storedVerdict(reader, { id })
      return row?.version !== version || row.high + row.medium > 0 || (row.low > 0 && row.visibility === 'private')
    },
    /** Verdicts of the versions that are served, by the ids of items. One that was not checked yet is left out. */
    async readVerdicts(ids: readonly string[]): Promise<ReadonlyMap<string, ServedVerdict>> {
      const rows = ids.length === 0 ? [] : await selectVerdicts(reader).where('item.id', 'in', ids).execute()
      return new Map(rows.map(({ id, seq: _, ...verdict }) => [id, verdict]))
    },
    /** Accepts a finding of an item; a version that it blocked is served then. @throws AppError `conflict` where the finding is not there any more */
    async waive(
      id: string,
      finding: MarkedFinding,
      by: { readonly userId: string; readonly reason: string; readonly until: string | null },
    ): Promise<void> {
      const row = await findLiveRow(reader, id)
      if (!row) throw new AppError('not_found', 'This item does not exist.')
      await context.transact(async (db, notes) => {
        const ofItem = db.selectFrom('waiver').where('item_seq', '=', row.seq)
        if ((await countRows(ofItem)) >= MAX_WAIVERS)
          throw invalidInput('rule', `This item has ${MAX_WAIVERS} accepted findings, which is the limit.`)
        const evidence = await sealMark(db, finding.mark)
        const { rule, file, severity } = finding
        const same = { item_seq: row.seq, rule, evidence }
        await db
          .deleteFrom('waiver')
          .where((eb) => eb.and(same))
          .execute()
        const user_seq = await findUserSeq(db, by.userId)
        const made = { file, severity, reason: by.reason, user_seq, until: by.until, made_at: context.now() }
        await db
          .insertInto('waiver')
          .values({ ...same, ...made })
          .execute()
        notes.audit({ action: 'finding_waived', targetId: row.id, ownerId: row.owner_id, detail: { kind: row.kind } })
      })
      await refresh(row)
      await release(row, by.userId)
    },
    /** Accepted findings of an item, the newest first. */
    async listWaivers(id: string): Promise<Waiver[]> {
      return await reader
        .selectFrom('waiver')
        .innerJoin('item', 'item.seq', 'waiver.item_seq')
        .leftJoin('user', 'user.seq', 'waiver.user_seq')
        .select(['waiver.seq as waiver', 'rule', 'file', 'reason', 'user.username as by', 'until', 'made_at as createdAt'])
        .where('item.id', '=', id)
        .orderBy('waiver.seq', 'desc')
        .execute()
    },
    /** Ends what was accepted of an item; what is served stays until an administrator confirms otherwise. False when there is none. */
    async endWaiver(id: string, seq: number): Promise<boolean> {
      const row = await findLiveRow(reader, id)
      if (!row) return false
      const isEnded = await context.transact(async (db, notes) => {
        const ended = await db
          .deleteFrom('waiver')
          .where('seq', '=', seq)
          .where('item_seq', '=', row.seq)
          .returning('seq')
          .executeTakeFirst()
        if (ended) notes.audit({ action: 'waiver_ended', targetId: row.id, ownerId: row.owner_id, detail: { kind: row.kind } })
        return ended !== undefined
      })
      if (isEnded) await refresh(row)
      return isEnded
    },
    /** Levels that are set: of the service, and of an owner. */
    async listLevels(ownerId: string | null) {
      return await readLevels(reader, (await ownerSeq(reader, ownerId)) ?? 0)
    },
    /** Sets the level of a rule, for the service without an owner. Everything served is then checked again in the background. @throws AppError */
    setLevel: (ownerId: string | null, rule: string, level: Level | null): Promise<void> =>
      context.transact(async (db, notes) => {
        const owner = await ownerSeq(db, ownerId)
        const { service } = await readLevels(db, owner ?? 0)
        if (owner !== null && level !== null && LEVELS.indexOf(level) < LEVELS.indexOf(levelOf(rule, service, new Map())))
          throw invalidInput('level', 'A team can be stricter than the service, and not milder.')
        const ofOwner = owner === null ? sql<boolean>`owner_seq is null` : sql<boolean>`owner_seq = ${owner}`
        await db.deleteFrom('check_level').where('rule', '=', rule).where(ofOwner).execute()
        if (level !== null) await db.insertInto('check_level').values({ owner_seq: owner, rule, level }).execute()
        const items = db.selectFrom('item').select('seq')
        await setOutdated(db, owner === null ? items : items.where('owner_seq', '=', owner))
        notes.audit({ action: 'check_level_changed', targetId: null, ownerId })
      }),
    /** Checks items that were not checked under this rule set and these levels. @returns how many; fewer than `limit` when all are done */
    async checkNext(limit: number): Promise<number> {
      await endOldWaivers()
      const rows = await selectItems(reader)
        .leftJoin('verdict', 'verdict.item_seq', 'item.seq')
        .select('verdict.rules')
        .where((eb) => eb.or([eb('verdict.item_seq', 'is', null), eb('verdict.rule_set', '<>', RULE_SET)]))
        .orderBy('item.seq')
        .limit(limit)
        .execute()
      for (const { rules, ...row } of rows) {
        await refresh(row, rules)
        await releaseForAuthor(row)
      }
      return rows.length
    },
    /** Items that others see and whose verdict changed with the rules or their levels; those that are to be blocked come first. */
    async listChanged(page: { readonly limit: number; readonly offset: number }): Promise<SearchResult<ChangedVerdict>> {
      const changed = reader
        .selectFrom('verdict')
        .innerJoin('item', 'item.seq', 'verdict.item_seq')
        .where('item.deleted_at', 'is', null)
        .where('item.visibility', '<>', 'private')
        .where((eb) => eb.or([eb('is_due', '=', 1), eb('rules_before', 'is not', null)]))
        .select(['item.seq', 'item.id', 'rules', 'rules_before', 'is_due'])
        .orderBy('is_due', 'desc')
        .orderBy('item.seq')
      const { rows, total } = await readPage(changed, page)
      const rowOf = new Map(rows.map((row) => [row.id, row]))
      const rulesOf = (written: string | null | undefined) => textsJson.parse(JSON.parse(written ?? '[]'))
      return {
        items: (await readItemsInOrder(reader, rows)).map((item) => {
          const row = rowOf.get(item.id)
          return { item, found: rulesOf(row?.rules), before: rulesOf(row?.rules_before), isDue: row?.is_due === 1 }
        }),
        total,
      }
    },
    /**
     * Blocks what is served of an item, as an administrator confirmed. Versions that the check blocks are their owner's alone; the newest that it
     * allows, and that was for as many people, is served again as a new version. Without one, the item is its owner's alone. False where it need
     * not be, or somebody saved meanwhile.
     */
    async confirmBlock(kind: ItemKind, id: string, userId: string): Promise<boolean> {
      const row = await findLiveRow(reader, id)
      if (!row || row.kind !== kind || row.visibility === 'private') return false
      if ((await judgeRow(row, await served(row))).blocking.length === 0) {
        await refresh(row)
        return false
      }
      const { blocked, allowed } = await judgeVersions(row)
      const pending = row.blocked_version === null ? null : await readVersion(reader, row.seq, row.blocked_version)
      const restored = allowed && { note: `Restored version ${allowed.version}`, restores: allowed.version, makesVersion: true as const }
      try {
        await items.changeItem(kind, id, { userId, note: null, ...restored }, ({ version }) => {
          if (version !== (row.blocked_version ?? row.version)) throw new AppError('conflict', 'This item was saved meanwhile.')
          return allowed ? toChange(allowed) : { visibility: 'private' }
        })
        // What the owner was writing stays the newest.
        if (allowed && pending) await items.changeItem(kind, id, { userId, note: pending.note }, () => toChange(pending))
      } catch (error) {
        if (error instanceof AppError && error.code === 'conflict') return false
        throw error
      }
      await context.transact(async (db, notes) => {
        for (const part of batches(blocked)) {
          await db
            .updateTable('version')
            .set({ visibility: 'private', is_blocked: 1 })
            .where('item_seq', '=', row.seq)
            .where('number', 'in', part)
            .execute()
        }
        notes.index(row.seq, null)
        notes.changed({ kind, ownerId: row.owner_id, audience: audienceOf(row.visibility) })
        notes.audit({ action: 'item_blocked', targetId: row.id, ownerId: row.owner_id, detail: { kind, version: row.version } })
      })
      return true
    },
    /** Takes note of what changed. */
    async dismissChanges(): Promise<void> {
      await context.sideTransaction(async (db) => {
        await db.updateTable('verdict').set({ rules_before: null }).where('rules_before', 'is not', null).execute()
      })
    },
  }

  /** Versions of an item that others may see and the check blocks, and the newest that it allows and as many people may see. */
  async function judgeVersions(row: ItemRow): Promise<{ blocked: number[]; allowed: FullVersion | null }> {
    const numbers = await reader
      .selectFrom('version')
      .select('number')
      .where('item_seq', '=', row.seq)
      .where('number', '<=', row.version)
      .where('visibility', '<>', 'private')
      .orderBy('number', 'desc')
      .execute()
    const blocked: number[] = []
    let allowed: FullVersion | null = null
    for (const { number } of numbers) {
      const version = await readVersion(reader, row.seq, number)
      if (!version) continue
      if ((await judgeRow(row, toCheck(version))).blocking.length > 0) blocked.push(number)
      else if (allowed === null && !isNarrower(version.visibility, row.visibility)) allowed = version
    }
    return { blocked, allowed }
  }
}
