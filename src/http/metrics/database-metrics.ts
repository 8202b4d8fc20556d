import type { LibraryStore } from '../../storage/store.ts'
import type { Metric } from './metrics.ts'

/** How busy the connections to a database server are; nothing for a library in a file. */
export function databaseMetrics({ readUsage }: Pick<LibraryStore['service'], 'readUsage'>): readonly Metric[] {
  if (readUsage() === null) return []
  return [
    {
      name: 'commonplace_database_connections',
      help: 'Database connections of this process, by state (busy, idle)',
      kind: 'gauge',
      labels: ['state'],
      read() {
        const { busy, idle } = readUsage() ?? { busy: 0, idle: 0 }
        return [
          { labels: { state: 'busy' }, value: busy },
          { labels: { state: 'idle' }, value: idle },
        ]
      },
    },
    {
      name: 'commonplace_database_waiting',
      help: 'Statements and transactions of this process waiting for a connection',
      kind: 'gauge',
      read: () => [{ value: readUsage()?.waiting ?? 0 }],
    },
  ]
}
