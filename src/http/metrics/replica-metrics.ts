import type { ServiceStore } from '../../library/ports/store.ts'
import type { Metric } from './metrics.ts'

/** How the replica does, and what it takes off the primary; nothing without one. */
export function replicaMetrics({ countReads, readReplica }: Pick<ServiceStore, 'countReads' | 'readReplica'>): readonly Metric[] {
  if (countReads() === null) return []
  const readLag = async (unit: 'bytes' | 'seconds') => {
    const value = (await readReplica())?.[unit] ?? null
    return value === null ? [] : [{ value }]
  }
  return [
    {
      name: 'commonplace_replica_up',
      help: '1 when the replica can be used, also while it is behind',
      kind: 'gauge',
      read: async () => [{ value: (await readReplica())?.state === 'unusable' ? 0 : 1 }],
    },
    {
      name: 'commonplace_replica_lag_bytes',
      help: 'Bytes of the write-ahead log that the replica has not replayed',
      kind: 'gauge',
      read: () => readLag('bytes'),
    },
    {
      name: 'commonplace_replica_lag_seconds',
      help: 'How long the replica has been behind at least',
      kind: 'gauge',
      read: () => readLag('seconds'),
    },
    {
      name: 'commonplace_item_reads_total',
      help: 'Statements that read items, by the server that answered (replica, primary)',
      kind: 'counter',
      labels: ['server'],
      read() {
        const { replica, primary } = countReads() ?? { replica: 0, primary: 0 }
        return [
          { labels: { server: 'replica' }, value: replica },
          { labels: { server: 'primary' }, value: primary },
        ]
      },
    },
  ]
}
