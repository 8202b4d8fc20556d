import { AppError } from '../../errors.ts'

/** Longest data of a line (git-scm.com, "protocol-common"). */
const MAX_DATA = 65_516
/** Bytes of a pack in one line: beside its length and its band. */
const MAX_BAND_DATA = MAX_DATA - 1

export const FLUSH = Buffer.from('0000')
export const DELIMITER = Buffer.from('0001')

/**
 * Commits of a client that are looked at, per request. Git sends the newest first, and the first that is known tells all that are older; the
 * others are passed over, so that a long list costs nothing.
 */
const MAX_HAVES = 1_000
const HAVE = Buffer.from('have ')

/** A line, or one of those without data. */
export type PktLine = { readonly kind: 'data'; readonly text: string } | { readonly kind: 'flush' | 'delimiter' }

/** A line with data. */
export function pktLine(text: string): Buffer {
  const data = Buffer.from(text)
  return Buffer.concat([prefixOf(data.length), data])
}

/** Bytes of a pack on the first band. */
export function bandLines(bytes: Uint8Array): Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; at += MAX_BAND_DATA) {
    const data = bytes.subarray(at, at + MAX_BAND_DATA)
    lines.push(Buffer.concat([prefixOf(data.length + 1), Buffer.from([1]), data]))
  }
  return lines
}

function prefixOf(length: number): Buffer {
  return Buffer.from((length + 4).toString(16).padStart(4, '0'))
}

/** Four hexadecimal digits, as a number. @throws AppError `invalid_input` */
function readLength(body: Buffer, at: number): number {
  let length = 0
  for (let place = at; place < at + 4; place++) {
    const digit = Number.parseInt(String.fromCharCode(body[place] ?? 0), 16)
    if (Number.isNaN(digit)) throw malformed()
    length = length * 16 + digit
  }
  return length
}

/** The lines of a request, without line feeds at their ends, and at most {@link MAX_HAVES} commits of the client. @throws AppError `invalid_input` */
export function readPktLines(bytes: Uint8Array): PktLine[] {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const lines: PktLine[] = []
  let haves = 0
  for (let at = 0; at < body.length; ) {
    const length = readLength(body, at)
    if (length === 0) lines.push({ kind: 'flush' })
    else if (length === 1) lines.push({ kind: 'delimiter' })
    else if (length < 4 || length > MAX_DATA + 4 || at + length > body.length) throw malformed()
    else if (body.compare(HAVE, 0, HAVE.length, at + 4, Math.min(at + length, at + 9)) !== 0 || ++haves <= MAX_HAVES)
      lines.push({ kind: 'data', text: body.toString('utf8', at + 4, at + length).replace(/\n$/, '') })
    at += Math.max(4, length)
  }
  return lines
}

function malformed(): AppError {
  return new AppError('invalid_input', 'The body is not made of pkt-lines, as Git sends them.')
}
