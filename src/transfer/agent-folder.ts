import type { Dirent } from 'node:fs'
import { lstat, opendir, realpath } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { holdsPrivateKey, isLeftOutName } from '../domain/skills/filename.ts'
import { MAX_FILE_BYTES, SKILL_MD } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'
import { isAgentFile } from './agent-files.ts'
import { findFormat } from './formats/formats.ts'
import type { ImportEntry } from './import-entries.ts'
import type { EntryPlace } from './match-entries.ts'
import { faultOf, isLinkToFolder, LINK_FAULT, readRegularFile, readSkillFolder } from './skill-folder.ts'
import { readAgent, readForeign, readMarkdown } from './upload.ts'

/** Most names looked at, and how deep. */
const MAX_NAMES = 100_000
const MAX_DEPTH = 64
/** Most names of what was passed over in one message. */
const MAX_PASSED = 20
const PROMPT = /\.prompt\.md$/i
/** Where agents keep what is theirs. */
const HOMES = 'claude|agents|github|cursor|codex|gemini|windsurf|clinerules|opencode|roo|kiro'
const SKILLS = new RegExp(`(?:^|/)\\.(?:${HOMES})/skills/.+$`)
const PROJECT = new RegExp(`^(.+?)/\\.(?:${HOMES})(?:/|$)`)
/** Folders of a plugin of Claude Code, which stand beside its `.claude-plugin`. */
const OF_PLUGINS = new Set(['commands', 'agents', 'skills'])
/** Folders of agents whose files have forms that are not read. */
const UNREAD = new Set(['.continue', '.trae', '.junie', '.amazonq', '.augment', '.goose'])

/**
 * Reads what agents and editors keep in a project's folder, or in a part of it such as `.claude/commands`: `.prompt.md` files, files of
 * other tools, commands, subagents, skills, rules, and files such as `AGENTS.md`. Skills elsewhere, folders of other agents and links to folders are named; other
 * files are ignored, and links are never followed.
 * @param isWhole an `AGENTS.md` is one prompt. Default: one for each second-level heading
 * @throws AppError `invalid_input` for a folder that cannot be read, or has too much in it or none of these
 */
export async function* readAgentFolder(folder: string, isWhole = false): AsyncGenerator<ImportEntry> {
  const root = await realpath(folder).catch(() => null)
  if (root === null || !(await lstat(root)).isDirectory()) throw new AppError('invalid_input', `${folder} is not a readable folder.`)
  // What a folder is depends on its name and those of the ones above, also when it was given by itself.
  const above = root.split('/').slice(-3).join('/')
  // A part of a project has the places that it has in the whole.
  const project = PROJECT.exec(root)?.[1] ?? root
  const toPlace = (path: string): EntryPlace => ({ root: project, path: relative(project, path) })
  let [names, found] = [0, 0]
  const passed: string[] = []
  /** Skills that are in no folder of an agent. */
  const elsewhere: string[] = []
  const passOver = (name: string, reason: string): ImportEntry => {
    if (passed.length < MAX_PASSED) passed.push(` ${name} was passed over: ${reason}.`)
    return { name, kind: 'passed', reason }
  }
  /** @param place as agents find it: what a plugin has stands as in `.claude` */
  const walk = async function* (path: string, depth: number, place: string): AsyncGenerator<ImportEntry> {
    const inside = relative(root, path)
    const entries: Dirent[] = []
    try {
      for await (const entry of await opendir(path)) {
        if (++names > MAX_NAMES) throw new AppError('invalid_input', `${folder} has more than ${MAX_NAMES} files. Choose a part of it.`)
        entries.push(entry)
      }
    } catch (error) {
      if (error instanceof AppError) throw error
      found++
      return yield { name: inside || basename(root), kind: null, fault: toFault(error) }
    }
    if (entries.some((entry) => entry.isFile() && entry.name === SKILL_MD)) {
      if (SKILLS.test(place)) {
        found++
        return yield { ...(await readSkill(path, inside || basename(root))), place: toPlace(path) }
      }
      elsewhere.push(inside || basename(root))
    }
    const isLikePlugin = /(?:^|\/)(?:commands|agents)$/.test(place) && !isAgentFile(`${place}/x.md`)
    if (isLikePlugin && entries.some(({ name }) => /\.md$/i.test(name)))
      yield passOver(inside || basename(root), 'no .claude-plugin stands beside it, and it is in no folder of an agent')
    const isPlugin = entries.some((entry) => entry.isDirectory() && entry.name === '.claude-plugin')
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const at = join(path, entry.name)
      const name = relative(root, at)
      const full = `${place}/${entry.name}`
      if (isLeftOutName(entry.name)) continue
      if (entry.isDirectory()) {
        if (UNREAD.has(entry.name)) yield passOver(name, 'the files of this agent are not read')
        else if (depth < MAX_DEPTH)
          yield* walk(at, depth + 1, isPlugin && OF_PLUGINS.has(entry.name) ? `${place}/.claude/${entry.name}` : full)
      } else if (entry.isSymbolicLink() && (await isLinkToFolder(at))) yield passOver(name, LINK_FAULT)
      else if (isAgentFile(full) || PROMPT.test(entry.name) || findFormat(entry.name)) {
        found++
        if (entry.isFile()) for (const one of await readFile(at, name, full, isWhole)) yield { ...one, place: toPlace(at) }
        else yield { name, kind: null, fault: 'is no regular file, and links are not followed' }
      }
    }
  }
  yield* walk(root, 0, above)
  const [first, ...more] = elsewhere
  if (first !== undefined) {
    const others = more.length > 0 ? ` and ${more.length} more` : ''
    yield passOver(`${first}${others}`, `${SKILL_MD} outside of the skills of an agent; use import skills`)
  }
  if (found === 0) {
    const looked =
      '.prompt.md, .prompt.yml, .prompt, .prompty and promptfooconfig.yaml files, commands, agents, skills and rules in folders such as .claude, and AGENTS.md'
    throw new AppError('invalid_input', `Nothing to import in ${folder}. It is searched for ${looked}.${passed.join('')}`)
  }
}

async function readSkill(path: string, name: string): Promise<ImportEntry> {
  try {
    return { name, kind: 'skill', draft: await readSkillFolder(path) }
  } catch (error) {
    return { name, kind: null, fault: toFault(error) }
  }
}

async function readFile(path: string, name: string, full: string, isWhole: boolean): Promise<ImportEntry[]> {
  try {
    const bytes = (await readRegularFile(path, MAX_FILE_BYTES)) ?? new Uint8Array()
    if (holdsPrivateKey(name, bytes)) return [{ name, kind: null, fault: 'contains a private key' }]
    if (!isAgentFile(full)) return findFormat(name) ? readForeign(name, bytes) : [readMarkdown(name, bytes)]
    return readAgent(full, bytes, isWhole).map((entry) => ({ ...entry, name: name + entry.name.slice(full.length) }))
  } catch (error) {
    return [{ name, kind: null, fault: toFault(error) }]
  }
}

function toFault(error: unknown): string {
  if (error instanceof Error && 'syscall' in error && 'code' in error) return `cannot be read (${error.code})`
  return faultOf(error)
}
