/** Beginnings of compiled programs, in hex. */
const PROGRAMS: Readonly<Record<string, string>> = {
  '7f454c46': 'ELF',
  cffaedfe: 'Mach-O',
  cefaedfe: 'Mach-O',
  feedfacf: 'Mach-O',
  cafebabe: 'Mach-O or Java',
  '0061736d': 'WebAssembly',
  '6465780a': 'Android',
  '4243c0de': 'LLVM',
}
/** Beginnings of zip, gzip, bzip2, xz, 7z, rar and zstd. */
const ARCHIVES = ['504b0304', '1f8b', '425a68', 'fd377a58', '377abcaf', '52617221', '28b52ffd']
/** Beginnings of pictures whose end is known. */
const PICTURES = { png: '89504e47', jpeg: 'ffd8ff', gif: '47494638' }

const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
const startOf = (bytes: Uint8Array) => asBuffer(bytes.subarray(0, 4)).toString('hex')

/** The form of a compiled program; null for anything else. */
export function programOf(bytes: Uint8Array): string | null {
  const found = PROGRAMS[startOf(bytes)]
  if (found) return found
  // A stub for DOS points at the header of a Windows program, or says so.
  if (startOf(bytes).startsWith('4d5a') && bytes.length > 64) return 'Windows'
  // Python: two bytes of version, then a line end.
  return bytes[2] === 0x0d && bytes[3] === 0x0a && (bytes[1] ?? 0) <= 0x0f && bytes.length > 16 ? 'Python bytecode' : null
}

/** Whether bytes begin as an archive does. */
export const isArchive = (bytes: Uint8Array) => ARCHIVES.some((start) => startOf(bytes).startsWith(start))
/** Whether bytes begin as a zip does. */
export const isZip = (bytes: Uint8Array) => startOf(bytes).startsWith('504b')

/** Whether bytes that begin otherwise end as a zip does. */
export function isHiddenZip(bytes: Uint8Array): boolean {
  return !isZip(bytes) && asBuffer(bytes).subarray(-66_000).lastIndexOf('PK\u0005\u0006') >= 0
}

/** The program or archive behind the end of a PNG, JPEG or GIF; null for none. */
export function findTail(bytes: Uint8Array): string | null {
  const start = startOf(bytes)
  if (!Object.values(PICTURES).some((picture) => start.startsWith(picture))) return null
  const buffer = asBuffer(bytes)
  const end = start.startsWith(PICTURES.png)
    ? buffer.lastIndexOf('IEND') + 8
    : start.startsWith(PICTURES.jpeg)
      ? buffer.lastIndexOf(Buffer.from('ffd9', 'hex')) + 2
      : bytes.length
  const tail = buffer.subarray(end)
  if (tail.length > 16 && (programOf(tail) !== null || isArchive(tail))) return 'a program or an archive behind a picture'
  const script = /#!\/(?:bin|usr)\/|<\?php|<script|\b(?:curl|wget)\s+-|\beval\(|\bimport (?:os|subprocess)\b|\bbash -[ci]/.exec(
    buffer.toString('latin1'),
  )
  return script ? `a program in a picture: ${script[0]}` : null
}

/** A module with which a pickle runs commands when it is loaded; null for none. */
export function pickledGlobal(bytes: Uint8Array): string | null {
  if (bytes[0] !== 0x80 || (bytes[1] ?? 0) < 2 || (bytes[1] ?? 0) > 5) return null
  const text = asBuffer(bytes.subarray(0, 256 * 1024)).toString('latin1')
  return (
    /\b(?:builtins|__builtin__|posix|nt|subprocess|importlib|runpy|socket|pty|shutil|webbrowser)\b|(?<=[c\x8c].?)(?:os|sys)(?=[\n\x94])/.exec(
      text,
    )?.[0] ?? null
  )
}
