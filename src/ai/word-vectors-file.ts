import { readFileSync } from 'node:fs'
import { readWordVectors, type WordVectors } from '../search/vectors/word-vectors.ts'

/** Two folders below the root, as the sources and the built program both stand. */
const FILE = new URL('../../assets/english-words.bin', import.meta.url)

let loaded: WordVectors | undefined

/** The word vectors that come with the program. @throws AppError `internal` when the file is damaged */
export function loadWordVectors(): WordVectors {
  loaded ??= readWordVectors(readFileSync(FILE))
  return loaded
}
