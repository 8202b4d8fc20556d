import { AppError } from '../../errors.ts'

/** Longest data of a line (git-scm.com, "protocol-common"). */
const MAX_DATA = 65_516
/** Bytes of a pack in one line: beside its length and its band. */
const MAX_BAND_DATA = MAX_DATA - 1

export const FLUSH = Buffer.from('0000')
export const DELIMITER = Buffer.from('0001')

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

/** The lines of a request, without line feeds at their ends. @throws AppError `invalid_input` */
export function readPktLines(bytes: Uint8Array): PktLine[] {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const lines: PktLine[] = []
  for (let at = 0; at < body.length; ) {
    const prefix = body.toString('latin1', at, at + 4)
    if (!/^[0-9a-f]{4}$/i.test(prefix)) throw malformed()
    const length = Number.parseInt(prefix, 16)
    if (length === 0) lines.push({ kind: 'flush' })
    else if (length === 1) lines.push({ kind: 'delimiter' })
    else if (length < 4 || length > MAX_DATA + 4 || at + length > body.length) throw malformed()
    else lines.push({ kind: 'data', text: body.toString('utf8', at + 4, at + length).replace(/\n$/, '') })
    at += Math.max(4, length)
  }
  return lines
}

function malformed(): AppError {
  return new AppError('invalid_input', 'The body is not made of pkt-lines, as Git sends them.')
}
