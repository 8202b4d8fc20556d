import type { SharedChange, SharedVersion } from '../../domain/items/changes.ts'
import { writePromptMarkdown } from '../../domain/service/transfer.ts'
import { describeSkill } from '../../domain/skills/frontmatter.ts'
import { decodeText, fileMode, SKILL_MD } from '../../domain/skills/skill.ts'
import {
  createRows,
  diffEnds,
  type Earlier,
  hashObject,
  type ObjectId,
  type Rows,
  readObject,
  readTree,
  type StoredObject,
  storeChange,
  storeObject,
  toByteKey,
  treeRow,
} from './objects.ts'

/** The service that makes a history, as it is named there. */
export interface RepositoryAbout {
  /** Name of the service. */
  readonly name: string
  /** Of its address. */
  readonly host: string
  /** Of the plugin marketplace. */
  readonly marketplace: string
  /** Its contents, in a few words. */
  readonly description: string
  readonly readme: string
}

/** An entry of the log with what stands in its version. */
export interface Step {
  readonly change: SharedChange
  readonly version: SharedVersion
}

/** A commit. All of them stand in one line. */
interface Commit {
  readonly id: ObjectId
  readonly tree: ObjectId
  /** In seconds; never below that of the one before. */
  readonly time: number
  /** The trees and blobs that the one before does not have in their places. */
  readonly changed: readonly ObjectId[]
}

/** A history, as far as it is built. It only grows at its end. */
export interface History {
  readonly commits: readonly Commit[]
  readonly objects: ReadonlyMap<ObjectId, StoredObject>
  /** The place of a commit in the line. */
  readonly placeOf: ReadonlyMap<ObjectId, number>
  /** Bytes of all objects, deflated. */
  readonly bytes: number
  /** Adds the commit of entries that were written together, unless they change nothing. */
  add(steps: readonly Step[]): void
}

/** Where clients look for the marketplace: Claude Code and others, Codex, Cursor. */
const MARKETPLACES = ['.claude-plugin', '.agents/plugins', '.cursor-plugin']

/** A folder of the newest tree. */
interface Folder {
  readonly rows: Rows
  readonly folders: Map<string, Folder>
  /** Folders in it that are to be written again. */
  readonly changed: Set<string>
  /** As it was written last. */
  earlier: Earlier | null
  isChanged: boolean
}

/** A skill of the newest tree. */
interface PlacedSkill {
  name: string
  readonly description: string
  readonly isKept: boolean
}

/** The head of a marketplace's list, as `JSON.stringify` would write it. */
function headOfMarket({ marketplace, name, description }: RepositoryAbout): string {
  const head = JSON.stringify({ name: marketplace, owner: { name }, metadata: { description } }, null, 2)
  return `${head.slice(0, -'\n}'.length)},\n  "plugins": `
}

const toJson = (value: unknown) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`)

/** A history of nothing. */
export function createHistory(about: RepositoryAbout): History {
  const objects = new Map<ObjectId, StoredObject>()
  const commits: Commit[] = []
  const placeOf = new Map<ObjectId, number>()
  const root = createFolder()
  /** Files of prompts, and their blobs, by item. */
  const prompts = new Map<string, { readonly path: string; readonly blob: ObjectId }>()
  const skills = new Map<string, PlacedSkill>()
  /** The last version of each item: its writer and its note belong to the first commit that has it. */
  const versionOf = new Map<string, number>()
  /** Items by the names of their plugins. */
  const named = new Map<string, string>()
  const plugins = createRows()
  let [spareMarket, lastMarket] = [Buffer.alloc(0), Buffer.alloc(0)]
  const marketHead = headOfMarket(about)
  let market: (Earlier & { readonly bytes: Buffer }) | null = null
  let bytes = 0
  let changed = new Set<ObjectId>()

  const put = (id: ObjectId, make: () => StoredObject): StoredObject => {
    const known = objects.get(id)
    if (known) return known
    const stored = make()
    objects.set(id, stored)
    bytes += stored.deflated.length
    return stored
  }
  const putBlob = (content: Buffer, before: ObjectId | null): ObjectId => {
    const id = hashObject('blob', content)
    put(id, () => {
      const stored = before === null ? undefined : objects.get(before)
      if (before === null || !stored) return storeObject('blob', content)
      return storeChange('blob', content, { id: before, stored }, () =>
        diffEnds(
          readObject(before, (base) => objects.get(base)),
          content,
        ),
      )
    })
    changed.add(id)
    return id
  }
  /** The folder that a file stands in, marked as changed with those above. */
  const openFolder = (path: readonly string[]): Folder => {
    let folder = root
    folder.isChanged = true
    for (const name of path) {
      const inner = folder.folders.get(name) ?? createFolder()
      folder.folders.set(name, inner)
      folder.changed.add(name)
      inner.isChanged = true
      folder = inner
    }
    return folder
  }
  const setFile = (path: string, blob: ObjectId, mode?: number) => {
    const parts = path.split('/')
    const name = parts.pop() ?? ''
    const row = treeRow(name, blob, { ...(mode !== undefined && { mode }) })
    openFolder(parts).rows.set(row.key, row.bytes)
  }
  const removeFile = (path: string) => {
    const parts = path.split('/')
    const name = parts.pop() ?? ''
    openFolder(parts).rows.delete(toByteKey(name))
  }
  const writeFolder = (folder: Folder): ObjectId | null => {
    if (!folder.isChanged) return folder.earlier?.id ?? null
    for (const name of folder.changed) {
      const inner = folder.folders.get(name)
      const id = inner ? writeFolder(inner) : null
      if (id === null) {
        folder.folders.delete(name)
        folder.rows.delete(toByteKey(`${name}/`))
      } else {
        const row = treeRow(name, id, 'folder')
        folder.rows.set(row.key, row.bytes)
      }
    }
    folder.changed.clear()
    folder.isChanged = false
    const makeDelta = folder.rows.write()
    const { bytes: content } = folder.rows
    const { earlier } = folder
    if (!makeDelta && earlier) return earlier.id
    // Git has no empty folders.
    if (content.length === 0 && folder !== root) {
      folder.earlier = null
      return null
    }
    const id = hashObject('tree', content)
    const stored = put(id, () => storeChange('tree', content, earlier, makeDelta ?? (() => content)))
    changed.add(id)
    folder.earlier = { id, stored }
    return id
  }

  const setPrompt = ({ change, version }: Step): 'Add' | 'Update' | 'Move' => {
    const { itemId, path } = change
    const before = prompts.get(itemId)
    if (before && before.path !== path) removeFile(before.path)
    const slug = path.slice(path.lastIndexOf('/') + 1, -'.md'.length)
    // Commits of before say nothing of the syntax, and stay as they were cloned.
    const blob = putBlob(
      Buffer.from(writePromptMarkdown({ ...version, slug, syntax: version.syntax === 1 ? undefined : 2 })),
      before?.blob ?? null,
    )
    setFile(path, blob)
    prompts.set(itemId, { path, blob })
    return before ? (before.path === path ? 'Update' : 'Move') : 'Add'
  }
  const removePlugin = (name: string) => {
    openFolder(['plugins']).folders.delete(name)
    openFolder(['plugins']).changed.add(name)
    plugins.delete(name)
    named.delete(name)
  }
  const describePlugin = (itemId: string, skill: PlacedSkill) => {
    const { name, description } = skill
    skills.set(itemId, skill)
    named.set(name, itemId)
    setFile(`plugins/${name}/.claude-plugin/plugin.json`, putBlob(toJson({ name, description }), null))
    const row = JSON.stringify({ name, source: `./plugins/${name}`, description })
    plugins.set(name, Buffer.from(`,\n    ${row}`))
  }
  /** Names that others have go to those whose they are for ever, else to who has them. */
  const choosePluginName = (wanted: string, itemId: string, isKept: boolean): string => {
    const holderId = named.get(wanted)
    const holder = holderId === undefined ? undefined : skills.get(holderId)
    if (holderId === undefined || !holder || holderId === itemId) return wanted
    const besides = (id: string) => {
      const name = `${wanted.slice(0, 55)}-${id.slice(0, 8)}`
      return (named.get(name) ?? id) === id ? name : id
    }
    if (!isKept || holder.isKept) return besides(itemId)
    const folder = root.folders.get('plugins')?.folders.get(wanted)
    removePlugin(wanted)
    const name = besides(holderId)
    if (folder) openFolder(['plugins']).folders.set(name, folder)
    describePlugin(holderId, { ...holder, name })
    return wanted
  }
  const setSkill = ({ change, version }: Step): 'Add' | 'Update' | 'Move' | 'Remove' => {
    const { itemId, path, isKept } = change
    const before = skills.get(itemId)
    const folderOf = (name: string) => root.folders.get('plugins')?.folders.get(name)
    const had = before && folderOf(before.name)
    const known = new Set(had ? listIds(had) : [])
    if (before) removePlugin(before.name)
    skills.delete(itemId)
    const skillMd = version.files.find(({ filename }) => filename === SKILL_MD)
    const described = describeSkill((skillMd && decodeText(skillMd.bytes)) ?? '')
    if (described.fault !== null) return before ? 'Remove' : 'Add'
    const name = choosePluginName(path.slice('plugins/'.length), itemId, isKept)
    const others = changed
    changed = new Set()
    for (const file of version.files) {
      setFile(`plugins/${name}/skills/${name}/${file.filename}`, putBlob(Buffer.from(file.bytes), null), fileMode(file))
    }
    describePlugin(itemId, { name, description: described.description, isKept })
    const folder = folderOf(name)
    if (folder) writeFolder(folder)
    // What the skill had before is there already.
    for (const id of changed) if (!known.has(id)) others.add(id)
    changed = others
    return before ? (before.name === name ? 'Update' : 'Move') : 'Add'
  }
  const writeMarket = () => {
    if (!plugins.write() && market) return
    // The comma before the first plugin is left out.
    const ends = plugins.bytes.length === 0 ? [marketHead, '[]\n}\n'] : [`${marketHead}[`, '\n  ]\n}\n']
    const parts = [Buffer.from(ends[0] ?? ''), plugins.bytes.subarray(1), Buffer.from(ends[1] ?? '')]
    const before = market
    const size = parts.reduce((sum, part) => sum + part.length, 0)
    const into = spareMarket.length < size ? Buffer.allocUnsafeSlow(size * 2) : spareMarket
    let end = 0
    for (const part of parts) end += part.copy(into, end)
    const content = into.subarray(0, size)
    const id = hashObject('blob', content)
    spareMarket = lastMarket
    lastMarket = into
    const stored = put(id, () => storeChange('blob', content, before, () => diffEnds(before?.bytes ?? Buffer.alloc(0), content)))
    changed.add(id)
    market = { id, bytes: content, stored }
    for (const folder of MARKETPLACES) setFile(`${folder}/marketplace.json`, id)
  }

  return {
    commits,
    objects,
    placeOf,
    get bytes() {
      return bytes
    },
    add(steps) {
      changed = new Set()
      const last = commits.at(-1)
      if (!last) setFile('README.md', putBlob(Buffer.from(about.readme), null))
      const said = steps.map(({ change, version }): Step => {
        const isRepeated = versionOf.get(change.itemId) === change.version
        versionOf.set(change.itemId, change.version)
        // Commits from before that was noted stay as they are.
        if (!isRepeated || !version.isByPerson) return { change, version }
        return { change, version: { ...version, note: null, writer: about.name } }
      })
      const verbs = steps.map((step) => (step.change.kind === 'prompt' ? setPrompt(step) : setSkill(step)))
      writeMarket()
      const tree = writeFolder(root)
      if (tree === null || tree === last?.tree) return
      const times = steps.map(({ change }) => Math.floor(Date.parse(change.at) / 1000) || 0)
      const time = times.reduce((a, b) => Math.max(a, b), last?.time ?? 0)
      const text = [
        `tree ${tree}`,
        ...(last ? [`parent ${last.id}`] : []),
        `author ${nameWriter(about, said)} ${time} +0000`,
        `committer ${nameWriter(about, said)} ${time} +0000`,
        '',
        describeSteps(said, verbs),
      ].join('\n')
      const content = Buffer.from(text)
      const id = hashObject('commit', content)
      put(id, () => storeObject('commit', content))
      placeOf.set(id, commits.length)
      commits.push({ id, tree, time, changed: [...changed] })
    },
  }
}

function createFolder(): Folder {
  return { rows: createRows(), folders: new Map(), changed: new Set(), earlier: null, isChanged: true }
}

/** The trees and blobs of a folder that was written. */
function* listIds(folder: Folder): Generator<ObjectId> {
  if (folder.earlier) yield folder.earlier.id
  for (const { id } of readTree(folder.rows.bytes)) yield id
  for (const inner of folder.folders.values()) yield* listIds(inner)
}

/** The author of the changes, or the service where they are several people; never by their email address. */
function nameWriter({ name, host }: RepositoryAbout, steps: readonly Step[]): string {
  const writers = new Set(steps.map(({ version }) => version.writer))
  const [only] = writers
  const writer = writers.size === 1 && only !== undefined ? only : name
  const plain = writer.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
  return `${plain} <${plain}@${host}>`
}

function describeSteps(steps: readonly Step[], verbs: readonly string[]): string {
  const [step, ...others] = steps
  if (!step) return ''
  if (others.length > 0) return `Change ${steps.length} items\n`
  const name = step.change.path.replace(/^.*\//, '').replace(/\.md$/, '')
  const { note } = step.version
  return `${verbs[0]} ${name}\n${note === null || note.trim() === '' ? '' : `\n${note.trim()}\n`}`
}
