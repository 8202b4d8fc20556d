import type { ServiceStatus } from '../domain/service/service.ts'

/** The parts that an operator looks at first. */
const HEALTH_PARTS = ['backup', 'disk', 'search', 'errors', 'mail'] as const

/** A backup that is older than this was missed. */
const MAX_BACKUP_AGE_MS = 48 * 3_600_000
/** Room that is needed beside the library: an upgrade copies it, and so does a backup. */
const ROOM = { copies: 2, leastBytes: 512 * 1024 ** 2 } as const

type Judged = Pick<ServiceStatus, 'backups' | 'database' | 'search' | 'encoder' | 'faults'> & { readonly sendsMail: boolean }

/** How each part of a running service does: `bad` needs somebody, `note` may be meant so. */
export function judgeHealth({ backups, database, search, encoder, faults, sendsMail }: Judged, nowMs: number) {
  const { bytes, freeBytes } = database
  const isFull = freeBytes !== null && freeBytes < Math.max(ROOM.leastBytes, ROOM.copies * bytes)
  const lastMs = backups?.lastAt ? Date.parse(backups.lastAt) : Number.NEGATIVE_INFINITY
  const isBackedUp = backups !== null && backups.failures === 0 && nowMs - lastMs <= MAX_BACKUP_AGE_MS
  const levels: Readonly<Record<(typeof HEALTH_PARTS)[number], 'good' | 'note' | 'bad'>> = {
    backup: isBackedUp ? 'good' : 'bad',
    disk: isFull ? 'bad' : 'good',
    search: encoder?.state === 'fallback' ? 'bad' : search.isReady && encoder?.state !== 'embedding' ? 'good' : 'note',
    errors: faults.length === 0 ? 'good' : 'bad',
    mail: sendsMail ? 'good' : 'note',
  }
  return HEALTH_PARTS.map((part) => ({ part, level: levels[part] }))
}
