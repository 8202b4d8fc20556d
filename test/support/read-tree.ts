import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files below a folder with their bytes, for comparing two exports. */
export function readTree(folder: string): Map<string, string> {
  return new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        return [path.slice(folder.length), readFileSync(path, 'base64')]
      }),
  )
}
