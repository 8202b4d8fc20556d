import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** What the program needs beside itself, below the root: the same as in the image. */
export const RUNTIME = [
  'LICENSE',
  'assets',
  'dist/THIRD-PARTY-NOTICES.txt',
  'dist/cli',
  'dist/encoder',
  'dist/web',
  'docs',
  'package.json',
  'starter',
]
/** What the tarball has beside that. */
export const PAPERS = ['CHANGELOG.md', 'README.md', 'SECURITY.md', 'packaging/commonplace.service']

/** A file and its bytes. */
export interface Content {
  /** With slashes. */
  readonly path: string
  readonly bytes: Buffer
}

/** The files that are at these names, and below the folders among them. @param as where they are to stand */
export function readContents(root: string, names: readonly string[], as = ''): Content[] {
  return names.flatMap((name) => {
    const place = join(root, name)
    const files = statSync(place).isDirectory()
      ? readdirSync(place, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
      : [place]
    return files.map((file) => ({ path: as + relative(root, file).replaceAll(sep, '/'), bytes: readFileSync(file) }))
  })
}

/** In the order of their bytes, which is the same everywhere. */
export function sortContents(contents: readonly Content[]): Content[] {
  return contents.toSorted((one, other) => (one.path < other.path ? -1 : 1))
}
