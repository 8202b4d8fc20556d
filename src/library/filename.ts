const MAX_FILENAME_BYTES = 255

/** What is wrong with a skill's filename, as the end of a sentence ("… must not …"), or null when it is a good one. Expects NFC. */
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
