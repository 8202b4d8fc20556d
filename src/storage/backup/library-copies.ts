import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { LibraryCopy } from '../../domain/service/transfer.ts'
import { removeFile } from '../dialects/sqlite-copy.ts'

const BACKUP = /^commonplace-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/
/** Suffixes of the files that `copyBeforeUpgrade` and `restoreFile` leave beside the library. */
const BESIDE = [
  ['upgrade', /^\.before-\d{4}$/],
  ['replaced', /^\.replaced-\d{8}T\d{6}Z(-\d+)?$/],
  // Left by an interrupted restore or import.
  ['replaced', /^\.(restoring|importing)$/],
] as const
/** Left by an interrupted copy: a hidden file with random letters beside its target. */
const CUT_OFF = /^\.(.+)\.[0-9a-f]{8}\.tmp$/

/** The name of a backup made now. */
export function nameBackup(now: number): string {
  return `commonplace-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}.db`
}

/** The backups in a folder, the newest last. @throws when it cannot be read */
export function listBackups(folder: string): { readonly name: string; readonly at: number }[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const [, year, month, day, hour, minute, second] = BACKUP.exec(name) ?? []
      const at = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
      return Number.isNaN(at) ? [] : [{ name, at }]
    })
    .toSorted((one, other) => one.at - other.at)
}

/** The copies of a library on this machine that the service made. A folder that cannot be read has none. */
export function listCopies(libraryPath: string | null, backupFolder: string | null): LibraryCopy[] {
  const backups = backupFolder === null ? [] : tryTo(() => readdirSync(backupFolder), []).filter((name) => BACKUP.test(meantBy(name)))
  const beside = libraryPath === null ? [] : tryTo(() => readdirSync(dirname(libraryPath)), [])
  return [
    ...backups.flatMap((name) => describe(join(backupFolder ?? '', name), 'backup')),
    ...beside.flatMap((name) => {
      if (libraryPath === null || !meantBy(name).startsWith(basename(libraryPath))) return []
      const suffix = meantBy(name).slice(basename(libraryPath).length)
      const kind = BESIDE.find(([, pattern]) => pattern.test(suffix))?.[0]
      return kind ? describe(join(dirname(libraryPath), name), kind) : []
    }),
  ]
}

/** Removes copies, each with its log files. */
export function removeCopies(copies: readonly LibraryCopy[]): void {
  for (const { path } of copies) removeFile(path)
}

/** The name of the file a temporary one was made for. */
function meantBy(name: string): string {
  return CUT_OFF.exec(name)?.[1] ?? name
}

function describe(path: string, kind: LibraryCopy['kind']): LibraryCopy[] {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() ? [{ path, kind, bytes: found.size, writtenAt: found.mtime.toISOString() }] : []
}

function tryTo<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
