import type pg from 'pg'
import { z } from 'zod'
import { KEPT_TRANSACTIONS } from './postgres-marks.ts'

/** Which data a server has: two that agree are of one cluster, on one timeline, and are asked in one database. */
const lineage = z.object({ system: z.string(), timeline: z.string(), place: z.string() })

/** A database and the table in it: other databases of the server have other numbers. */
const PLACE = `(select oid from pg_database where datname = current_database()) || ' ' || 'read_mark'::regclass::oid`
const SYSTEM = '(select system_identifier::text from pg_control_system())'
/** One run of one server. After a crash, a standby may be at an earlier place than before. */
const SERVER = `concat(pg_postmaster_start_time(), ' ', inet_server_addr(), ' ', inet_server_port())`

/**
 * Everything below `xmin` has ended on the replica. (The list of transactions under way is empty in a snapshot of a standby.) Of those above,
 * `seen` have been replayed, too. A checkpoint that was replayed names the timeline that the replica is on.
 */
const REPLICA = `select pg_is_in_recovery() as "isStandby", ${SYSTEM} as system, ${PLACE} as place, ${SERVER} as server,
  (select lpad(upper(to_hex(timeline_id)), 8, '0') from pg_control_checkpoint()) as timeline,
  pg_snapshot_xmin(pg_current_snapshot())::text::bigint as xmin,
  array(select distinct xid::text from read_mark where xid >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint limit 1000) as seen,
  pg_wal_lsn_diff(coalesce(pg_last_wal_replay_lsn(), '0/0'), '0/0')::float8 as replayed,
  (select value from revision where scope = 'library') as library, (select max(revision) from public_change) as public`

/** `waiting`: those of the callers who wrote what the replica has not replayed. A file of the log is named by its timeline. */
const PRIMARY = `select ${SYSTEM} as system, ${PLACE} as place, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as timeline,
  pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as written,
  pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xmax,
  array(select distinct caller from read_mark where caller = any($1::text[]) and xid >= $2::bigint
    and xid < pg_snapshot_xmax(pg_current_snapshot())::text::bigint and not xid = any($3::bigint[])) as waiting`

const replicaRow = lineage.extend({
  isStandby: z.boolean(),
  server: z.string(),
  xmin: z.number(),
  seen: z.array(z.string()),
  replayed: z.number(),
  library: z.number(),
  public: z.number(),
})
const primaryRow = lineage.extend({ written: z.number(), xmax: z.number(), waiting: z.array(z.string()) })

/** Where a replica is. Positions are bytes of the write-ahead log. */
export type ReplicaPosition = z.infer<typeof replicaRow>
/** Where the primary is, at a later moment. */
export type PrimaryPosition = z.infer<typeof primaryRow>

/** Stands for everybody, in the place of a caller: what narrowed what somebody may see. */
export const EVERYBODY = ''

/** @param timeoutMs how long the replica may take */
export async function readReplicaPosition(client: pg.PoolClient, timeoutMs: number): Promise<ReplicaPosition> {
  const config: pg.QueryConfig & { query_timeout: number } = { name: 'commonplace_replica', text: REPLICA, query_timeout: timeoutMs }
  const { rows } = await client.query(config)
  return replicaRow.parse(rows[0])
}

/** Asks the primary what a replica lacks that is at a position. @param callers ids of users; everybody is asked about, too */
export async function readPrimaryPosition(
  pool: pg.Pool,
  callers: readonly string[],
  { xmin, seen }: ReplicaPosition,
): Promise<PrimaryPosition> {
  const { rows } = await pool.query({ text: PRIMARY, values: [[EVERYBODY, ...callers], xmin, seen] })
  return primaryRow.parse(rows[0])
}

/** Which run of which server a connection leads to. */
export async function readServer(client: pg.PoolClient): Promise<string> {
  const { rows } = await client.query<{ server: string }>(`select ${SERVER} as server`)
  return rows[0]?.server ?? ''
}

/** Why a replica may answer nobody, as the end of a sentence; null when it may answer those who do not wait. */
export function findUnfit(replica: ReplicaPosition, primary: PrimaryPosition): string | null {
  if (!replica.isStandby) return 'is no standby server'
  if (replica.system !== primary.system) return 'does not follow the server of DATABASE_URL'
  if (replica.place !== primary.place) return 'is asked for another database than DATABASE_URL names'
  if (replica.timeline !== primary.timeline) return 'has not followed the last change of the primary server yet'
  if (replica.xmin < primary.xmax - KEPT_TRANSACTIONS) return 'is too far behind'
  return null
}
