import type { Metric } from './metrics.ts'

/** How the backups of a schedule go. */
export interface BackupFigures {
  /** When the newest one was made; null when there is none. */
  lastBackup(): Date | null
  /** How many could not be made, since the start. */
  failures(): number
}

/** What an alarm about missing backups needs. */
export function backupMetrics(figures: BackupFigures): readonly Metric[] {
  return [
    {
      name: 'commonplace_backup_last_success_timestamp_seconds',
      help: 'Time of the newest scheduled backup, in Unix seconds; 0 if none',
      kind: 'gauge',
      read: () => [{ value: (figures.lastBackup()?.getTime() ?? 0) / 1000 }],
    },
    {
      name: 'commonplace_backup_failures_total',
      help: 'Failed scheduled backups',
      kind: 'counter',
      read: () => [{ value: figures.failures() }],
    },
  ]
}
