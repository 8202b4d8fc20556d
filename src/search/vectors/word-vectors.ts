import { AppError } from '../../errors.ts'

/** Dimensions of the built-in vectors. */
export const DIMS = 80

/** Vectors of common English words, trained on general text. A word is known by its row. */
export type WordVectors = ReturnType<typeof readWordVectors>

/** No vectors: search uses words alone. */
export const NO_WORD_VECTORS: WordVectors = {
  size: 0,
  wordOf: () => '',
  find: () => -1,
  rankOf: () => 0,
  vectorOf: () => new Int8Array(DIMS),
}

/**
 * Reads the file that `scripts/distil-vectors.ts` writes: a header of 16 bytes (magic, count, dimensions, length of the words), ranks,
 * vectors, then the sorted words, each ended by a newline. Nothing is copied: `find` is a binary search in the bytes.
 * @throws AppError `internal` when it is no such file
 */
export function readWordVectors(file: Uint8Array) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const fault = () => new AppError('internal', 'The file of word vectors is damaged; install the program again.')
  if (file.length < 16 || view.getUint32(0) !== 0x43505756) throw fault()
  const size = view.getUint32(4, true)
  const textLength = view.getUint32(12, true)
  const vectorsAt = 16 + size * 4
  const textAt = vectorsAt + size * DIMS
  if (view.getUint32(8, true) !== DIMS || file.length !== textAt + textLength) throw fault()
  const vectors = new Int8Array(file.buffer, file.byteOffset + vectorsAt, size * DIMS)
  // Where each word begins, and one entry for the end.
  const starts = new Uint32Array(size + 1)
  let row = 0
  for (let at = textAt; at < file.length; at++) if (file[at] === 10) starts[++row] = at + 1 - textAt
  if (row !== size) throw fault()
  const compare = (word: string, candidate: number): number => {
    const start = textAt + (starts[candidate] ?? 0)
    const length = (starts[candidate + 1] ?? 0) - (starts[candidate] ?? 0) - 1
    for (let i = 0; i < word.length && i < length; i++) {
      const difference = word.charCodeAt(i) - (file[start + i] ?? 0)
      if (difference !== 0) return difference
    }
    return word.length - length
  }
  const text = new TextDecoder()
  return {
    size,
    /** The row of a word, or -1. */
    find(word: string): number {
      let low = 0
      let high = size - 1
      while (low <= high) {
        const middle = (low + high) >> 1
        const order = compare(word, middle)
        if (order === 0) return middle
        if (order < 0) high = middle - 1
        else low = middle + 1
      }
      return -1
    },
    wordOf: (of: number): string => text.decode(file.subarray(textAt + (starts[of] ?? 0), textAt + (starts[of + 1] ?? 0) - 1)),
    /** Frequency rank of a word in general text, from 0. */
    rankOf: (of: number): number => view.getUint32(16 + of * 4, true),
    /** `DIMS` integers from -127 to 127; not of unit length. */
    vectorOf: (of: number): Int8Array => vectors.subarray(of * DIMS, (of + 1) * DIMS),
  }
}
