import type { FC } from 'hono/jsx'
import { SKILL_MD } from '../../domain/skills/skill.ts'
import type { Site } from '../site.ts'
import { Details, LinkItem } from './controls.tsx'

interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: { readonly name: string; readonly filename: string }[]
}

/** Trees with more files than this begin with their folders closed, but for those the open file is in. */
const OPEN_UP_TO = 40

interface FileTreeProps {
  readonly site: Site
  readonly filenames: readonly string[]
  /** The one that is shown. */
  readonly open: string
  toUrl(filename: string): string
}

/** A skill's files, folders in folders, SKILL.md first. */
export const FileTree: FC<FileTreeProps> = ({ site: { words }, filenames, open, toUrl }) => (
  <nav class="tree" aria-label={words.files}>
    <h2 class="kind">
      {words.files} <span>{filenames.length}</span>
    </h2>
    <Level folder={toTree(filenames)} path="" open={open} isOpen={filenames.length <= OPEN_UP_TO} toUrl={toUrl} />
  </nav>
)

function toTree(filenames: readonly string[]): Folder {
  const root: Folder = { folders: new Map(), files: [] }
  for (const filename of filenames) {
    const parts = filename.split('/')
    const name = parts.pop() ?? filename
    let folder = root
    for (const part of parts) {
      const inner = folder.folders.get(part) ?? { folders: new Map(), files: [] }
      folder.folders.set(part, inner)
      folder = inner
    }
    folder.files.push({ name, filename })
  }
  return joinFolders(root)
}

/** Folders that hold one folder alone become one, such as `docs/api`; names are in the order that people count in. */
function joinFolders({ folders, files }: Folder): Folder {
  const joined = [...folders].map(([name, folder]): [string, Folder] => {
    const inner = joinFolders(folder)
    const [only] = inner.folders
    return only && inner.folders.size === 1 && inner.files.length === 0 ? [`${name}/${only[0]}`, only[1]] : [name, inner]
  })
  return {
    folders: new Map(joined.toSorted(([one], [other]) => byName.compare(one, other))),
    files: files.toSorted((one, other) => byName.compare(one.name, other.name)),
  }
}

const byName = new Intl.Collator('en', { numeric: true })

interface LevelProps {
  readonly folder: Folder
  readonly path: string
  readonly open: string
  readonly isOpen: boolean
  toUrl(filename: string): string
}

const Level: FC<LevelProps> = ({ folder, path, open, isOpen, toUrl }) => {
  const link = ({ name, filename }: Folder['files'][number]) => (
    <LinkItem to={toUrl(filename)} current={filename === open && 'true'} text={name} />
  )
  return (
    <ul class="files">
      {folder.files.filter(({ filename }) => filename === SKILL_MD).map(link)}
      {[...folder.folders].map(([name, inner]) => {
        const below = `${path}${name}/`
        return (
          <li>
            <Details open={isOpen || open.startsWith(below)} summary={name}>
              <Level folder={inner} path={below} open={open} isOpen={isOpen} toUrl={toUrl} />
            </Details>
          </li>
        )
      })}
      {folder.files.filter(({ filename }) => filename !== SKILL_MD).map(link)}
    </ul>
  )
}
