/** A file or folder of a tree. */
export interface TreeNode {
  readonly name: string
  /** From the root, without a slash at its end. */
  readonly path: string
  /** null for a file. */
  readonly children: readonly TreeNode[] | null
}

/** Paths that are shown, and folders in folders. */
const MAX_PATHS = 200
const MAX_DEPTH = 12

interface Growing {
  readonly folders: Map<string, Growing>
  readonly files: Set<string>
}

/** A tree of paths, one a line; folders stand first, each kind by name. A path that ends with a slash is a folder, even an empty one. */
export function parsePathTree(text: string): { nodes: TreeNode[]; more: number } {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const root: Growing = { folders: new Map(), files: new Set() }
  for (const line of lines.slice(0, MAX_PATHS)) {
    const parts = line.split('/').filter((part) => part !== '' && part !== '.')
    const deep = parts.length > MAX_DEPTH ? [...parts.slice(0, MAX_DEPTH - 1), parts.slice(MAX_DEPTH - 1).join('/')] : parts
    const file = line.endsWith('/') ? undefined : deep.pop()
    let folder = root
    for (const part of deep) {
      const inner = folder.folders.get(part) ?? { folders: new Map(), files: new Set() }
      folder.folders.set(part, inner)
      folder = inner
    }
    if (file !== undefined) folder.files.add(file)
  }
  return { nodes: toNodes(root, ''), more: Math.max(0, lines.length - MAX_PATHS) }
}

function toNodes({ folders, files }: Growing, path: string): TreeNode[] {
  return [
    ...[...folders].toSorted(([a], [b]) => compareNames(a, b)).map(([name, inner]) => toFolder(name, path + name, inner)),
    // A name that is a folder too was given both ways; the folder says more.
    ...[...files]
      .filter((name) => !folders.has(name))
      .toSorted(compareNames)
      .map((name) => ({ name, path: path + name, children: null })),
  ]
}

function toFolder(name: string, path: string, inner: Growing): TreeNode {
  return { name, path, children: toNodes(inner, `${path}/`) }
}

/** Without regard to case, and the same on every machine. */
function compareNames(a: string, b: string): number {
  const [one, two] = [a.toLowerCase(), b.toLowerCase()]
  if (one === two) return a < b ? -1 : 1
  return one < two ? -1 : 1
}
