import { hash } from 'node:crypto'
import { brotliCompressSync, constants } from 'node:zlib'

/** A file of a runtime, in the order of the archive. */
export interface RuntimeFile {
  /** Below the folder of the runtime, with slashes. */
  readonly path: string
  /** In bytes. */
  readonly size: number
  /** SHA-256, as hex. */
  readonly digest: string
}

/** A runtime as the executable has it in itself. */
export interface PackedRuntime {
  /** The version and a digest of all files: the name of its folder. */
  readonly name: string
  readonly files: readonly RuntimeFile[]
  /** The files one after the other, compressed with brotli. */
  readArchive(): Uint8Array
}

/** Packs files, given in the order they should have. */
export function packRuntime(version: string, contents: readonly { readonly path: string; readonly bytes: Buffer }[]): PackedRuntime {
  const files = contents.map(({ path, bytes }) => ({ path, size: bytes.length, digest: hash('sha256', bytes) }))
  const all = Buffer.concat(contents.map(({ bytes }) => bytes))
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: all.length }
  const archive = brotliCompressSync(all, { params })
  return { name: `${version}-${hash('sha256', JSON.stringify(files)).slice(0, 16)}`, files, readArchive: () => archive }
}
