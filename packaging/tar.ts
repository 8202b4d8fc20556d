import { gzipSync } from 'node:zlib'

/** A file for an archive. */
export interface TarFile {
  /** With slashes. */
  readonly path: string
  readonly bytes: Buffer
  readonly isExecutable: boolean
}

const BLOCK = 512

/** A `.tar.gz` (ustar) whose bytes depend on its files alone: they belong to root and are all of one time. @param time of every file */
export function makeTarball(files: readonly TarFile[], time: Date): Buffer {
  const seconds = Math.floor(time.getTime() / 1000)
  const blocks = files.flatMap(({ path, bytes, isExecutable }) => [
    header(path, bytes.length, isExecutable ? 0o755 : 0o644, seconds),
    bytes,
    Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK),
  ])
  const packed = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 })
  // The byte of the header that names the system it was made on (RFC 1952): unknown.
  packed[9] = 255
  return packed
}

function header(path: string, size: number, mode: number, seconds: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  const [prefix, name] = splitPath(path)
  const writeNumber = (value: number, at: number, length: number) => block.write(value.toString(8).padStart(length - 1, '0'), at)
  block.write(name, 0)
  writeNumber(mode, 100, 8)
  writeNumber(0, 108, 8)
  writeNumber(0, 116, 8)
  writeNumber(size, 124, 12)
  writeNumber(seconds, 136, 12)
  // A plain file.
  block.write('0', 156)
  block.write('ustar\u000000', 257)
  block.write(prefix, 345)
  // The sum of the header's bytes, with spaces in place of the sum.
  block.fill(' ', 148, 156)
  writeNumber(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  block[154] = 0
  return block
}

/** A path as ustar has it: at most 155 bytes and 100, parted at a slash. */
function splitPath(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ['', path]
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const parts = [path.slice(0, at), path.slice(at + 1)] as const
    if (Buffer.byteLength(parts[0]) <= 155 && Buffer.byteLength(parts[1]) <= 100) return parts
  }
  throw new Error(`This path is too long for the archive: ${path}`)
}
