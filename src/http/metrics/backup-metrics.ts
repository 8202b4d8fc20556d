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
      help: 'When the newest scheduled backup was made, in seconds since 1970; 0 when there is none',
      kind: 'gauge',
      read: () => [{ value: (figures.lastBackup()?.getTime() ?? 0) / 1000 }],
    },
    {
      name: 'commonplace_backup_failures_total',
      help: 'Scheduled backups that could not be made',
      kind: 'counter',
      read: () => [{ value: figures.failures() }],
    },
  ]
}
