import { AppError } from '../../errors.ts'

/** Whether this machine keeps the lowest byte of a number first. */
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** A vector as it is stored: 32-bit floats, little-endian, on every machine. */
export function toBytes(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vector.slice().buffer)
  return IS_LITTLE_ENDIAN ? bytes : swap(bytes)
}

/** Reads what {@link toBytes} wrote; a database may hand out bytes that are not aligned. @throws AppError `internal` when it is no whole number of floats */
export function toVector(bytes: Uint8Array): Float32Array {
  if (bytes.byteLength % 4 !== 0) throw new AppError('internal', 'A stored vector is damaged; rebuild the embeddings.')
  const own = Uint8Array.from(bytes)
  return new Float32Array((IS_LITTLE_ENDIAN ? own : swap(own)).buffer)
}

/** Turns each four bytes around, in place. */
function swap<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  for (let at = 0; at < bytes.length; at += 4) bytes.subarray(at, at + 4).reverse()
  return bytes
}
