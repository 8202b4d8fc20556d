import { AppError } from '../../errors.ts'

/** Byte order of this machine. */
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** A stored vector: 32-bit floats, little-endian on every machine. */
export function toBytes(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vector.slice().buffer)
  return IS_LITTLE_ENDIAN ? bytes : swap(bytes)
}

/** Decodes {@link toBytes}, aligned or not. @throws AppError `internal` when the length is not a whole number of floats */
export function toVector(bytes: Uint8Array): Float32Array {
  if (bytes.byteLength % 4 !== 0) throw new AppError('internal', 'A stored vector is damaged; rebuild the embeddings.')
  const own = Uint8Array.from(bytes)
  return new Float32Array((IS_LITTLE_ENDIAN ? own : swap(own)).buffer)
}

/** Reverses the bytes of each float, in place. */
function swap<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  for (let at = 0; at < bytes.length; at += 4) bytes.subarray(at, at + 4).reverse()
  return bytes
}
