import { type Kysely, sql } from 'kysely'
import { AppError } from '../../errors.ts'
import type { Dialect, OpenDatabase } from '../dialects/dialect.ts'
import { inMemory, sqliteDialect } from '../dialects/sqlite.ts'
import { dropValue } from '../kept-values.ts'
import type { Database } from '../schema.ts'
import { createLibrary } from './0001-library.ts'
import { createSessions } from './0002-sessions.ts'
import { addSkillNames } from './0003-skill-names.ts'
import { createImproveUsage } from './0004-improve-usage.ts'
import { createSearchWords } from './0005-search-words.ts'
import { createEmbeddings } from './0006-embeddings.ts'
import { createAccounts } from './0007-accounts.ts'
import { createEmbeds } from './0008-embeds.ts'
import { createInstances } from './0009-instances.ts'
import { createFormDrafts } from './0010-form-drafts.ts'
import { freezeSchema } from './0011-frozen-schema.ts'
import { createPurges } from './0012-purges.ts'
import { createAuditLog } from './0013-audit-log.ts'
import { createRevisions } from './0014-revisions.ts'
import { createItemVectors } from './0015-item-vectors.ts'
import { createImports } from './0016-imports.ts'
import { createFavourites } from './0017-favourites.ts'
import { createItemSources } from './0018-item-sources.ts'
import { addFirstSteps } from './0019-first-steps.ts'
import { createUseCounts } from './0020-use-counts.ts'
import { addAccountStates } from './0021-account-states.ts'
import { addChannelNames } from './0022-channel-names.ts'
import { createInstallLinks } from './0023-install-links.ts'
import { createSharedChanges } from './0024-shared-changes.ts'
import { createSyncStates } from './0025-sync-states.ts'
import { createTeams } from './0026-teams.ts'
import { createCollections } from './0027-collections.ts'
import { createOffers } from './0028-offers.ts'
import { narrowKeys } from './0029-narrowed-keys.ts'
import { createOAuth } from './0030-oauth.ts'
import { addLanguages } from './0031-languages.ts'
import { addGivenRights } from './0032-given-rights.ts'
import { createSignInFactors } from './0033-sign-in-factors.ts'
import { logPublicChanges } from './0034-public-changes.ts'
import { deferTriggers } from './0035-deferred-triggers.ts'
import { createReadMarks } from './0036-read-marks.ts'
import { createSnapshotTables } from './0037-snapshot-tables.ts'
import { countOwnerUsage } from './0038-owner-usage.ts'
import { noteMakers } from './0039-made-by.ts'
import { bindGroupTeams } from './0040-group-teams.ts'
import { addFileModes } from './0041-file-modes.ts'
import { createImportSources } from './0042-import-sources.ts'
import { logTags } from './0043-change-tags.ts'
import { createChangeLog } from './0044-change-log.ts'
import { dropOffersAndLinks } from './0045-drop-offers-and-links.ts'
import { sealSessions } from './0046-sealed-sessions.ts'
import { moveProviderVectors } from './0047-one-vector-table.ts'
import { makeLinksKeys } from './0048-links-are-keys.ts'
import { createLabels } from './0049-labels.ts'
import { addPromptBodies } from './0050-prompt-bodies.ts'
import { createChecks } from './0051-checks.ts'
import { createEvals } from './0052-evals.ts'
import { createTestCases } from './0053-test-cases.ts'
import { markFormerMoves } from './0054-former-moves.ts'
import { adoptEarlierRecords } from './earlier-records.ts'

/** One schema change. Never edited after a release: its digest is pinned here, checked by a test, and stored in every database. */
interface Migration {
  readonly name: string
  readonly up: (db: Kysely<Database>, dialect: Dialect) => Promise<void>
  /** SHA-256 of the statements it runs, on every engine (docs/decisions/0025-frozen-migrations.md). */
  readonly digest: string
}

/** All migrations, numbered, forward only. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-library', up: createLibrary, digest: '399091ee8aa89b1815f038249760630f16ec419020673933a002a40ef4c21a4b' },
  { name: '0002-sessions', up: createSessions, digest: '26b10478dfc826497590975ea497fa4e9df53328ac4893ca67b947df41d32ea7' },
  { name: '0003-skill-names', up: addSkillNames, digest: '6e97f0ff51a8ac36e4132c6461f3b90f3ade7aa1f191da733d2fc4429aca0f0d' },
  { name: '0004-improve-usage', up: createImproveUsage, digest: 'e00f243d45fc01dfe81355fa81638a79ed0a4ad67d21afea055c4b0c3268e6a9' },
  { name: '0005-search-words', up: createSearchWords, digest: '35fe859693b4c1c0ef69849ac77557e671e4c5e56cbb6538694f919596994024' },
  { name: '0006-embeddings', up: createEmbeddings, digest: 'aa9933fbd3c64f849a2162215e8e5c296d372353d33921de33bae7d5644e41b0' },
  { name: '0007-accounts', up: createAccounts, digest: '505f958878ef82dfc659c322ee7b13e74456211fad69120863229a663805e709' },
  { name: '0008-embeds', up: createEmbeds, digest: '55e71b6f4552df3b507b6ade13e1a87d1c9f9dc8d3f81edd0b0e6807eb648abf' },
  { name: '0009-instances', up: createInstances, digest: '0261a9f0aee9a5de9fc062e6f214f53dbc9003907199742c460b998960798b0c' },
  { name: '0010-form-drafts', up: createFormDrafts, digest: '5df514f562773eecfee4a6ea1099b6989f49d37c0cac4ab6075f5f493ed7da0f' },
  { name: '0011-frozen-schema', up: freezeSchema, digest: 'bf549682ebd3f75ce382038d522132926ff27925c3763f05bd3fa3d29dd2c746' },
  { name: '0012-purges', up: createPurges, digest: 'f0c40d342d187b6655dbcd1cf0c590681636a974303443d24eb32f5259ea2406' },
  { name: '0013-audit-log', up: createAuditLog, digest: '2a5141f635af6dfba3161551ac8c7f205fb27244b5f13587d5cf7b6519590546' },
  { name: '0014-revisions', up: createRevisions, digest: '678b8bb335457743e7665ec7c964e40d5037cc2b2ba90e85c56069d720c0a4a5' },
  { name: '0015-item-vectors', up: createItemVectors, digest: 'da5908926b598b7ffb0bb54a666419e0a7100cb512c7a2e7f448d7ed741d680f' },
  { name: '0016-imports', up: createImports, digest: 'ae56d8d4747d024f5d864d10077534a52c7b7e22f9a69e5917f5e2211f545154' },
  { name: '0017-favourites', up: createFavourites, digest: '3af00c6fc4598baeb2de1ea3265ef90f621749ba961cd4d492c18f48e966d723' },
  { name: '0018-item-sources', up: createItemSources, digest: 'e622d077a5398e7ed202ae8ef3235331c9e15961c295da06b4b9298f3b1d2a0a' },
  { name: '0019-first-steps', up: addFirstSteps, digest: 'b34200ac9d07add4a2a0de0696369e8f92e9ca4b16b6d17d47c4919c4c97509d' },
  { name: '0020-use-counts', up: createUseCounts, digest: '6d9a7add653bb585da20cf185d8c0f485eb1b9228cf762d0fd221888965c7b08' },
  { name: '0021-account-states', up: addAccountStates, digest: '40ad64100d3243f6e4121ce8db110cb55218cd89d21962a32a16ed7e073424c3' },
  { name: '0022-channel-names', up: addChannelNames, digest: 'c6cb3d74303a46ccf884acc1bf8df43c8d55ff9cbd4ec38cbe75cb0dd870a74c' },
  { name: '0023-install-links', up: createInstallLinks, digest: '8e821df8dbe5ad05fa4312f14d974e1323d4e33299abd3a2d8cdf56180c6d579' },
  { name: '0024-shared-changes', up: createSharedChanges, digest: 'fa8d26f1aa27a8413adf8cf99d2e2b3551f14fefb4cadc7f3bab159ef4620d11' },
  { name: '0025-sync-states', up: createSyncStates, digest: '19a7f15d1021a45488c84981917500312bb9980569821a2a1cb8c59cd87db15d' },
  { name: '0026-teams', up: createTeams, digest: '34050df063855db94c5f652f90e6f0f5af3dbf03827f1ef499128a8c868c83f0' },
  { name: '0027-collections', up: createCollections, digest: 'cfbe75553c905059522fc7eeb3131b5c3b536a66b36911ed422d8a5c01480875' },
  { name: '0028-offers', up: createOffers, digest: '185ba1f13733fcd385252957c003190308c8e4feba381054766277081a54d3eb' },
  { name: '0029-narrowed-keys', up: narrowKeys, digest: '43479b2278b78992c42c63fc0c4d62707807c8dd066f4decbcb2581f8fc4ce83' },
  { name: '0030-oauth', up: createOAuth, digest: '8a0c4616b2f661a43eaf86239bdbd9d52e96feca6fbf822504236cfeeaff1e6e' },
  { name: '0031-languages', up: addLanguages, digest: '5bf09d0c60503fc3897473e1145a0cd3d3a4b30d04679d88a832942e053f42f5' },
  { name: '0032-given-rights', up: addGivenRights, digest: '5a3363427c9265f4c5a1210ff33a7222a7084a61e125cc6e26dc63291c4b832c' },
  { name: '0033-sign-in-factors', up: createSignInFactors, digest: 'de99a46659cf017809eeebe98ee3b29506d384fd2262d30de73102ba988f4b32' },
  { name: '0034-public-changes', up: logPublicChanges, digest: 'dd8a296799e119207fc4292226f70b85a3df2d09715fadb782460f3b158b017e' },
  { name: '0035-deferred-triggers', up: deferTriggers, digest: '706097705414addc90dac77c41fa2c0063a3464290eacc430c11748e210e25f1' },
  { name: '0036-read-marks', up: createReadMarks, digest: 'dd25765e91f211e6cf7fb46211a0b2c2cab8b6557708b56c80af73ee6ed425a8' },
  { name: '0037-snapshot-tables', up: createSnapshotTables, digest: 'b54e8d09f4143e374a1c1bc60161048a02ec2e03785f6a8651b4a766b5c4da3e' },
  { name: '0038-owner-usage', up: countOwnerUsage, digest: '039d57b893ff6b2c5093ef63d0ae1bcbdc7481792de82d400f08af3ef870e68a' },
  { name: '0039-made-by', up: noteMakers, digest: '391c3d9b012a48c808d81376f1e36994770a43589252fe7ee72c9257b53eb3ee' },
  { name: '0040-group-teams', up: bindGroupTeams, digest: '87c842ecf223ef56e8e13a20e2fa5049f50642dae413cdb790d95095b3fd819c' },
  { name: '0041-file-modes', up: addFileModes, digest: '8ad1585e3df85f1aee1b104102d79aa58c02f632e81c4081df66a901cf7b159d' },
  { name: '0042-import-sources', up: createImportSources, digest: 'c54d49e771fb30ca91dad4b1a9f80017c1ec0dc556233fb2d3d1ce24b794aa57' },
  { name: '0043-change-tags', up: logTags, digest: '2d99c31bd632b3450172e333b5164adbbb089b7a1893a9effcd3d5fd216f42ba' },
  { name: '0044-change-log', up: createChangeLog, digest: 'ffb8ae6ebdb377c26e62a5ad2fc7ca848c415354fe08a2300f5f7092f671a996' },
  {
    name: '0045-drop-offers-and-links',
    up: dropOffersAndLinks,
    digest: 'b151292d620e23bd24e551e5a3b4674bd12b302ab1d4c36ad6693779a043c668',
  },
  { name: '0046-sealed-sessions', up: sealSessions, digest: 'd24d0d4d0c77295f5511fe7aae0a177b5881f6083a63fe19093dc694ce5ac74d' },
  {
    name: '0047-one-vector-table',
    up: moveProviderVectors,
    digest: '7072ece1dc2f8276fa56c92c7e241381261002d4adae3390fa4ad18a37dde1cd',
  },
  { name: '0048-links-are-keys', up: makeLinksKeys, digest: 'cb54a26969d360ea650bb32fdec564d4effad4b51c28546b2fc90d3c746707a1' },
  { name: '0049-labels', up: createLabels, digest: 'b86ecc3b7664d162d719614cde5b26331751ed4d94f0821c97a1e82f4c740455' },
  { name: '0050-prompt-bodies', up: addPromptBodies, digest: 'bdae983e839e8a1dbc52bdaebee26c0d45448cfa30d039bc4fd6680fdc4f3ef3' },
  { name: '0051-checks', up: createChecks, digest: 'd1d200828e9a3eba5179bddd362a2ad7e78bbec77cd686267f87f64287e6a172' },
  { name: '0052-evals', up: createEvals, digest: 'e02b5c9a4560ed10e3208de788c76a318eaacd5d00697e6c671e33cb366b9028' },
  { name: '0053-test-cases', up: createTestCases, digest: '95d4e0b0c826551fb654cf2ef95a3c2babaffe373118c9c1e3b15f7b265587a9' },
  { name: '0054-former-moves', up: markFormerMoves, digest: 'ae684722e961e62c8761d9c1801fa0ce519b1e22cd3d42e347d6d7ebf9612ac9' },
]

/** Options of a migration run. */
export interface MigrateOptions {
  /** The last migration to run, for a new file of an earlier schema. Default: all are run */
  readonly through?: string
  /** Called once before an existing library is changed. `first` is the number of the first pending migration. */
  readonly beforeUpgrade?: (first: string) => Promise<void>
  /** Called before each migration. */
  readonly onMigration?: (name: string, done: number, of: number) => void
}

interface Applied {
  readonly name: string
  /** Absent before 0011. */
  readonly digest?: string | null
}

/**
 * Runs all pending migrations in one transaction that holds the write lock from its start. A kill leaves nothing half done, and of several
 * processes that start together one migrates. (Kysely's own migrator runs SQLite's migrations outside of a transaction.) The result is
 * checked before the commit, so that the previous build can still open a database that was refused.
 * @throws AppError `unavailable` when the database is newer than this program or another's, or a migration fails
 */
export async function migrate(database: OpenDatabase, options: MigrateOptions = {}): Promise<void> {
  try {
    const first = await findFirstPending(database)
    if (first) {
      if (((await database.countOtherVersions?.()) ?? 0) > 0) throw olderProcess()
      await options.beforeUpgrade?.(numberOf(first))
    }
    await database.transact((db) => migrateIn(db, database.dialect, options), { isLong: true })
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('unavailable', `The database could not be brought up to date, and is as it was: ${reason}.`, { cause: error })
  }
}

/** The error for a library whose schema another process relies on. */
export function olderProcess(): AppError {
  return new AppError(
    'unavailable',
    'A process of an earlier version still uses the library, which is as it was. Stop it, then start this one.',
  )
}

/** The migrations a database has, without changing it; empty where there is no library. */
export async function readMigrations(db: Kysely<Database>, dialect: Pick<Dialect, 'readColumns'>): Promise<ReadonlySet<string>> {
  const columns = await dialect.readColumns(db)
  const records = ['migration', 'kysely_migration'].filter((table) => columns.has(`${table}.name`))
  const applied = new Set<string>()
  for (const table of records) for (const { name } of await readApplied(db, table)) applied.add(name)
  return applied
}

/** The first migration a library lacks; null when it is up to date, or there is no library yet. */
async function findFirstPending({ reader, dialect }: OpenDatabase): Promise<string | null> {
  const applied = await readMigrations(reader, dialect)
  return applied.size === 0 ? null : (MIGRATIONS.find(({ name }) => !applied.has(name))?.name ?? null)
}

async function migrateIn(db: Kysely<Database>, dialect: Dialect, { through, onMigration }: MigrateOptions): Promise<void> {
  await sql`create table if not exists migration (name text primary key, applied_at text not null)`.execute(db)
  await adoptEarlierRecords(db, await dialect.readColumns(db))
  const rows = await readApplied(db, 'migration')
  refuseOthers(rows)
  const applied = new Set(rows.map((row) => row.name))
  const pending = MIGRATIONS.filter(({ name }) => !applied.has(name) && (through === undefined || name <= through))
  for (const [done, { name, up }] of pending.entries()) {
    onMigration?.(name, done, pending.length)
    // Before it runs: it may date what it writes by this.
    await sql`insert into migration (name, applied_at) values (${name}, ${new Date().toISOString()})`.execute(db)
    await up(db, dialect)
  }
  if (pending.length === 0) return
  if ((await dialect.readColumns(db)).has('migration.digest')) {
    for (const { name, digest } of MIGRATIONS) {
      await sql`update migration set digest = ${digest} where name = ${name} and digest is null`.execute(db)
    }
  }
  const missing = rows.length === 0 ? [] : await findMissingColumns(db, dialect)
  if (missing.length > 0) {
    const message = `The database lacks ${missing.join(', ')}, which it should have by its migrations, and is as it was: restore a backup, or start the version that wrote it.`
    throw new AppError('unavailable', message)
  }
  // A migration may change what the index holds.
  await dropValue(db, 'search_epoch')
}

/** Columns that a new library has and this one of the same schema lacks, as `table.column`. */
export async function findMissingColumns(db: Kysely<Database>, dialect: Pick<Dialect, 'readColumns'>): Promise<string[]> {
  const columns = await dialect.readColumns(db)
  const expected = await inMemory(async (made) => {
    await migrateIn(made, sqliteDialect, {})
    return await sqliteDialect.readColumns(made)
  })
  return [...expected].filter((place) => !place.startsWith('sqlite_') && !columns.has(place))
}

/** @throws AppError `unavailable` for a database that this program must not use */
function refuseOthers(rows: readonly Applied[]): void {
  const digests = new Map(MIGRATIONS.map(({ name, digest }) => [name, digest]))
  for (const { name, digest = null } of rows) {
    const expected = digests.get(name)
    if (expected === undefined) {
      throw new AppError('unavailable', `The database was last used by a newer version (it has "${name}"); start that one.`)
    }
    if (digest !== null && digest !== expected) {
      throw new AppError('unavailable', `The database was made by another program: its "${name}" is not this one's. Start that program.`)
    }
  }
}

async function readApplied(db: Kysely<Database>, table: string): Promise<Applied[]> {
  const { rows } = await sql<Applied>`select * from ${sql.table(table)} order by name`.execute(db)
  return rows
}

function numberOf(name: string): string {
  return name.slice(0, name.indexOf('-'))
}
