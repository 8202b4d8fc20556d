import type { Dirent } from 'node:fs'
import { lstat, opendir, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { AppError } from '../errors.ts'
import { holdsPrivateKey, isLeftOutName } from '../library/left-out.ts'
import { MAX_FILE_BYTES, SKILL_MD } from '../library/skill.ts'
import { isAgentFile } from './agent-files.ts'
import type { ImportEntry } from './import-entries.ts'
import type { EntryPlace } from './match-entries.ts'
import { readRegularFile } from './regular-file.ts'
import { readSkillFolder } from './skill-folder.ts'
import { readAgent, readMarkdown } from './upload.ts'

/** Most names looked at, and how deep. */
const MAX_NAMES = 100_000
const MAX_DEPTH = 64
const PROMPT = /\.prompt\.md$/i
/** Where agents keep skills. */
const SKILLS = /(?:^|\/)\.(?:claude|agents|github|cursor|codex|gemini)\/skills\/.+$/

/**
 * Reads what agents and editors keep in a project's folder, or in a part of it such as `.claude/commands`: `.prompt.md` files, commands and
 * skills of Claude Code, rules of Cursor and `AGENTS.md`. Other files are ignored, and links are never followed.
 * @param isWhole an `AGENTS.md` is one prompt. Default: one for each second-level heading
 * @throws AppError `invalid_input` for a folder that cannot be read, or has too much in it or none of these
 */
export async function* readAgentFolder(folder: string, isWhole = false): AsyncGenerator<ImportEntry> {
  const root = await realpath(folder).catch(() => null)
  if (root === null || !(await lstat(root)).isDirectory()) throw new AppError('invalid_input', `${folder} is not a readable folder.`)
  // What a folder is depends on its name and that of the one above, also when it was given by itself.
  const above = `${basename(dirname(root))}/${basename(root)}`
  // A part of a project has the places that it has in the whole.
  const project = /^(.+?)\/\.(?:claude|agents|github|cursor|codex|gemini)(?:\/|$)/.exec(root)?.[1] ?? root
  const toPlace = (path: string): EntryPlace => ({ root: project, path: relative(project, path) })
  let [names, found] = [0, 0]
  const walk = async function* (path: string, depth: number): AsyncGenerator<ImportEntry> {
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
    const place = inside === '' ? above : `${above}/${inside}`
    if (SKILLS.test(place) && entries.some((entry) => entry.isFile() && entry.name === SKILL_MD)) {
      found++
      return yield { ...(await readSkill(path, inside || basename(root))), place: toPlace(path) }
    }
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const at = join(path, entry.name)
      const name = relative(root, at)
      const full = `${place}/${entry.name}`
      if (isLeftOutName(entry.name)) continue
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH) yield* walk(at, depth + 1)
      } else if (isAgentFile(full) || PROMPT.test(entry.name)) {
        found++
        if (entry.isFile()) for (const one of await readFile(at, name, full, isWhole)) yield { ...one, place: toPlace(at) }
        else yield { name, kind: null, fault: 'is no regular file, and links are not followed' }
      }
    }
  }
  yield* walk(root, 0)
  if (found === 0) {
    const looked = '.prompt.md files, .claude/commands, .claude/skills, .cursor/rules and AGENTS.md'
    throw new AppError('invalid_input', `Nothing to import in ${folder}. It is searched for ${looked}.`)
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
    if (!isAgentFile(full)) return [readMarkdown(name, bytes)]
    return readAgent(full, bytes, isWhole).map((entry) => ({ ...entry, name: name + entry.name.slice(full.length) }))
  } catch (error) {
    return [{ name, kind: null, fault: toFault(error) }]
  }
}

function toFault(error: unknown): string {
  if (error instanceof AppError && error.code !== 'internal') return error.message
  if (error instanceof Error && 'code' in error) return `cannot be read (${error.code})`
  throw error
}
