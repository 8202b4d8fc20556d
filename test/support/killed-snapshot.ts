import { createSearchIndex } from '../../src/search/index/search-index.ts'
import { indexSnapshots } from '../../src/storage/search/index-snapshot.ts'
import { readSearchIndex } from '../../src/storage/search/search-reader.ts'
import { openAt } from './engines.ts'

/** Writes a snapshot of the index of a library, and kills itself before part NUMBER: `node killed-snapshot.ts URL NUMBER`. */
const [, , url = '', part] = process.argv
const database = openAt(url)
const index = createSearchIndex()
const dying = {
  ...index,
  capture() {
    const capture = index.capture()
    return {
      ...capture,
      *parts(isKept: (word: number) => boolean) {
        let number = 0
        for (const one of capture.parts(isKept)) {
          if (number++ === Number(part)) process.kill(process.pid, 'SIGKILL')
          yield one
        }
      },
    }
  },
}
if (!database.snapshots) throw new Error('a file has snapshots')
await readSearchIndex(database.reader, dying, null, indexSnapshots(database, database.snapshots)).save(new AbortController().signal)
