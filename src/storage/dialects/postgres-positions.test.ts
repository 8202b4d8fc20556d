import { describe, expect, it } from 'vitest'
import { KEPT_TRANSACTIONS } from './postgres-marks.ts'
import { findUnfit, type PrimaryPosition, type ReplicaPosition } from './postgres-positions.ts'

const LINEAGE = { system: '7', timeline: '00000001', place: '5 16384' }
const REPLICA: ReplicaPosition = {
  ...LINEAGE,
  isStandby: true,
  server: 'a',
  xmin: 1_000_000,
  seen: [],
  replayed: 10,
  library: 1,
  public: 1,
}
const PRIMARY: PrimaryPosition = { ...LINEAGE, written: 20, xmax: 1_000_000, waiting: [] }

describe('a replica', () => {
  it.each<[string, Partial<ReplicaPosition>, Partial<PrimaryPosition>, string | null]>([
    ['of the same history', {}, {}, null],
    ['that writes', { isStandby: false }, {}, 'is no standby server'],
    ['of another cluster', { system: '8' }, {}, 'does not follow the server of DATABASE_URL'],
    ['of another database', { place: '6 16384' }, {}, 'is asked for another database than DATABASE_URL names'],
    [
      'of the history before a change of servers',
      {},
      { timeline: '00000002' },
      'has not followed the last change of the primary server yet',
    ],
    ['at the end of what is marked', {}, { xmax: 1_000_000 + KEPT_TRANSACTIONS }, null],
    ['beyond it', {}, { xmax: 1_000_001 + KEPT_TRANSACTIONS }, 'is too far behind'],
  ])('%s', (_, replica, primary, reason) => {
    expect(findUnfit({ ...REPLICA, ...replica }, { ...PRIMARY, ...primary })).toBe(reason)
  })
})
