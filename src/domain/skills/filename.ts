const MAX_FILENAME_BYTES = 255
/** Characters that HFS+ ignores in a name (Git, utf8.c, `next_hfs_char`). */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
/** Names that Git obeys, and the short ones that NTFS may give them (Git, path.c, `is_ntfs_dotgit`, `is_ntfs_dotmodules`). */
const GIT_NAME = /^(?:\.GIT(?:MODULES|ATTRIBUTES)?|GIT~\d+|GITMOD~\d+|GITATT~\d+|GI7(?:EB|D2)[0-9A-F]*~\d+)$/

/**
 * Whether Git would take a file or folder of this name for its own, on any file system: its configuration names programs that `git status`
 * runs, and Git refuses to check such names out. What file systems fold (case, ignored characters, dots and spaces at the end) counts as equal.
 */
export function isGitName(part: string): boolean {
  return GIT_NAME.test(foldFilename(part.replaceAll(HFS_IGNORED, '').replace(/[. ]+$/, '')))
}

/** The fault of a skill's filename, as the end of a sentence ("… must not …"), or null when it is a good one. Expects NFC. */
export function filenameFault(filename: string): string | null {
  if (filename === '') return 'is empty'
  if (!filename.isWellFormed()) return 'contains half a surrogate pair'
  if (Buffer.byteLength(filename, 'utf8') > MAX_FILENAME_BYTES) return `exceeds ${MAX_FILENAME_BYTES} bytes`
  if (filename.startsWith('/')) return 'starts with a slash; use a path relative to the skill'
  if (filename.includes('\\')) return 'contains a backslash; separate folders with /'
  if (filename.includes(':')) return 'contains a colon'
  if (/\p{Cc}/u.test(filename)) return 'contains a control character'
  for (const part of filename.split('/')) {
    if (part === '') return 'has an empty part'
    if (part === '.' || part === '..') return `contains "${part}"; use a plain path inside the skill`
    if (part.endsWith('.') || part.endsWith(' ')) return 'has a part that ends with a dot or a space'
    if (isGitName(part)) return `contains "${part}", a name that Git reads as its own`
  }
  return null
}

/** A filename as it is stored: NFC. */
export function normalizeFilename(filename: string): string {
  return filename.normalize('NFC')
}

/** A key that two names share when a case-insensitive file system would confuse them. */
function foldFilename(filename: string): string {
  return filename.toLowerCase().toUpperCase().normalize('NFC')
}

/**
 * The first pair of names that cannot stand side by side: equal but for case, or one the folder of the other.
 * Returns the sentence to show, or null.
 */
export function filenameClash(filenames: readonly string[]): string | null {
  const files = new Map<string, string>()
  for (const name of filenames) {
    const folded = foldFilename(name)
    const twin = files.get(folded)
    if (twin !== undefined) return twin === name ? `"${name}" is listed twice` : `"${name}" and "${twin}" differ only in case`
    files.set(folded, name)
  }
  for (const name of filenames) {
    for (let slash = name.indexOf('/'); slash !== -1; slash = name.indexOf('/', slash + 1)) {
      const file = files.get(foldFilename(name.slice(0, slash)))
      if (file !== undefined) return `"${file}" is both a file and the folder of "${name}"`
    }
  }
  return null
}

/** Folders of tools, and files that hold secrets by their name. */
const SKIPPED_NAME = /^(node_modules|\.env.*)$/i
/** Files that macOS adds. */
const SYSTEM_NAME = /^(__MACOSX|\.DS_Store|Thumbs\.db)$/i
const SECRET_NAME = /^(id_(rsa|dsa|ecdsa|ed25519)(?!\.pub)|.*\.(pem|key|p12|pfx|keystore))$/i
const PRIVATE_KEY_LINE = /^-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----/m

/** Whether a folder or file of this name is left out of what is imported (contract, "Outbound and inbound care"). */
export function isLeftOutName(name: string): boolean {
  return SKIPPED_NAME.test(name) || isGitName(name)
}

/** Whether an operating system adds files of this name to folders and archives. */
export function isSystemName(name: string): boolean {
  return SYSTEM_NAME.test(name)
}

/** Whether a file of this name is likely to hold a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** Whether a file holds a private key: a line begins one. Markdown may quote such a line, and counts only when it begins with it. */
export function holdsPrivateKey(name: string, bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').trimStart()
  return PRIVATE_KEY_LINE.test(name.toLowerCase().endsWith('.md') ? text.slice(0, 100).replace(/\n[\s\S]*/, '') : text)
}

/** Media types of the raster images that browsers draw, by the ending of a filename. SVG is not among them: it can hold scripts. */
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
}

/** The media type of a raster image by its filename; null for any other file. */
export function imageTypeOf(filename: string): string | null {
  return IMAGE_TYPES[filename.split('.').at(-1)?.toLowerCase() ?? ''] ?? null
}
