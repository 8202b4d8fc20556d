import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** What a save is for the engine alone: rows of this many characters. */
const ROWS = 8
const ROW_LENGTH = 2_048
const SAVES_A_COMMIT = 50

/**
 * How many saves a second SQLite takes from one process that does nothing else, at the given path, with commits that are on disk as the
 * library's are: the limit of any service on this disk. Eight rows of 2 KB a save, fifty saves a commit.
 */
export function measureEngine(path: string, seconds: number): number {
  const file = new DatabaseSync(path)
  try {
    file.exec('pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on')
    file.exec('create table row_of_save (seq integer primary key autoincrement, text text not null)')
    const insert = file.prepare('insert into row_of_save (text) values (?)')
    const text = 'x'.repeat(ROW_LENGTH)
    let saves = 0
    const started = performance.now()
    while (performance.now() - started < seconds * 1000) {
      file.exec('begin immediate')
      for (let row = 0; row < ROWS * SAVES_A_COMMIT; row++) insert.run(text)
      file.exec('commit')
      saves += SAVES_A_COMMIT
    }
    return (saves / (performance.now() - started)) * 1000
  } finally {
    file.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  }
}
