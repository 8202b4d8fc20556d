import { setImmediate } from 'node:timers/promises'
import { MAX_TITLE, PROMPT_TYPES, readPromptType } from '../domain/items/fields.ts'
import { takeSteps } from '../domain/service/running-work.ts'
import { holdsPrivateKey, isSystemName } from '../domain/skills/filename.ts'
import { describeOddFields, findFrontmatterFault, splitFrontmatter } from '../domain/skills/frontmatter.ts'
import { decodeText, encodingFault, SKILL_MD, type SkillFile } from '../domain/skills/skill.ts'
import { findTopFolder, type LeftOutFile, leftOutReason, readZipInSteps } from '../domain/skills/skill-archive.ts'
import { cutCharacters } from '../domain/text/characters.ts'
import { AppError } from '../errors.ts'
import { isAgentFile, readAgentFile, readEditorPrompt } from './agent-files.ts'
import { cutLongTags, describeVariables } from './foreign-prompts.ts'
import { findFormat, readFormat } from './formats/formats.ts'
import type { EntryPlace } from './match-entries.ts'
import { formatOf, type PromptDraft, readPromptFile, toRemarkedDraft } from './prompt-file.ts'
import { faultOf, type SkillDraft, toSkillDraft } from './skill-folder.ts'

/** An entry of an upload: what it is called, and what it holds or why it is refused. */
export type UploadEntry = { readonly name: string; readonly place?: EntryPlace } & (
  | { readonly kind: 'prompt'; readonly draft: PromptDraft }
  | { readonly kind: 'skill'; readonly draft: SkillDraft }
  | { readonly kind: null; readonly fault: string }
)

/** Most entries of one upload; larger imports are for the command line. */
const MAX_ENTRIES = 5_000
/** Files of an upload, those in archives included, and their bytes, inflated. */
const MAX_FILES = 5_000
const MAX_BYTES = 32 * 1024 * 1024
/** How long the files may take to be read. */
const MAX_MS = 5_000
const ARCHIVE = /\.(?:zip|skill)$/i
const MARKDOWN = /\.(?:md|markdown)$/i
const EDITOR_PROMPT = /\.prompt\.md$/i
/** The endings of files of prompts. */
const ENDING = /(?:\.prompt)?\.(?:md|markdown)$/i

/**
 * Reads what somebody uploads: CSV, JSON and JSONL files of prompts, Markdown files of one prompt each, files of other tools, folders of
 * skills with a SKILL.md, and zips of any of these. A bad entry is refused by itself. Lets others run in between.
 * @param files by their path, parts joined by `/`
 * @throws AppError `too_large` when there are too many entries or files, or they take more than five seconds
 */
export async function readUpload(files: readonly SkillFile[], now: () => number = () => performance.now()): Promise<UploadEntry[]> {
  const endsAt = now() + MAX_MS
  const pause = async (): Promise<void> => {
    await setImmediate()
    if (now() > endsAt)
      throw new AppError('too_large', 'These files take too long to read. Import a part of them, or all on the command line.')
  }
  const entries: UploadEntry[] = []
  const plain: SkillFile[] = []
  const archives: string[] = []
  /** Files that are not read; the skill that one belongs to goes on without it, or `costs` as much. */
  const leftOut: (LeftOutFile & { readonly costsSkill: boolean })[] = []
  let left = MAX_BYTES
  for (const file of files) {
    const reason = leftOutReason(file.filename)?.reason ?? (holdsPrivateKey(file.filename, file.bytes) ? 'contains a private key' : null)
    if (reason !== null) {
      leftOut.push({ filename: file.filename, reason, costsSkill: false })
      continue
    }
    if (!ARCHIVE.test(file.filename)) {
      plain.push(file)
      continue
    }
    const folder = file.filename.replace(ARCHIVE, '')
    try {
      const limits = { maxFiles: MAX_FILES, maxBytes: left, of: 'an import', removesTopFolder: false, goesOn: true }
      const { files: read, skipped, refused } = await takeSteps(readZipInSteps(file.bytes, limits), pause)
      const top = findTopFolder(read.map(({ filename }) => filename))
      for (const { filename, reason } of skipped) {
        const isNoise = filename.split('/').some(isSystemName)
        if (!isNoise) leftOut.push({ filename: `${folder}/${filename}`, reason, costsSkill: false })
      }
      for (const { filename, reason } of refused) leftOut.push({ filename: `${folder}/${filename}`, reason, costsSkill: true })
      // One folder around everything is the name of a branch or a release.
      archives.push(`${folder}/${top}`.replace(/\/$/, ''))
      for (const file of read) {
        left -= file.bytes.length
        plain.push({ ...file, filename: `${folder}/${file.filename}` })
      }
    } catch (error) {
      if (now() > endsAt) throw error
      entries.push({ name: file.filename, kind: null, fault: faultOf(error) })
    }
  }
  if (plain.length > MAX_FILES) throw new AppError('too_large', `These are ${plain.length} files; the limit for an import is ${MAX_FILES}.`)
  const { skills, others, topOf } = groupSkills(plain)
  for (const { filename, reason } of leftOut) if (topOf(filename) === null) entries.push({ name: filename, kind: null, fault: reason })
  for (const [folder, own] of skills) {
    const missing = leftOut.filter(({ filename }) => topOf(filename) === folder)
    entries.push(putAt(readSkill(folder, own, missing), folder.slice(0, -1), archives))
    await pause()
  }
  for (const file of others) {
    await pause()
    for await (const entry of readFile(file)) {
      entries.push(formatOf(file.filename) === null ? putAt(entry, file.filename, archives) : entry)
      if (entries.length > MAX_ENTRIES) {
        throw new AppError('too_large', `There are more than ${MAX_ENTRIES} entries. Import this on the command line.`)
      }
      if (entries.length % 100 === 0) await pause()
    }
  }
  return entries
}

/** An entry with the place of its file or folder: in its archive, in the folder that was chosen, or by itself. */
function putAt(entry: UploadEntry, filename: string, archives: readonly string[]): UploadEntry {
  if (entry.kind === null) return entry
  const archive = archives.find((root) => filename === root || filename.startsWith(`${root}/`))
  const root = archive ?? (filename.includes('/') ? filename.slice(0, filename.indexOf('/')) : '.')
  return { ...entry, place: { root, path: root === '.' ? filename : filename.slice(root.length + 1) } }
}

/** The files of each folder that holds a SKILL.md, by its path; a folder in a skill belongs to it. Names are those in the skill. */
function groupSkills(files: readonly SkillFile[]) {
  const folders = files
    .filter(({ filename }) => filename === SKILL_MD || filename.endsWith(`/${SKILL_MD}`))
    .map(({ filename }) => filename.slice(0, -SKILL_MD.length))
    .sort((one, other) => one.length - other.length)
  const tops = new Set<string>()
  /** The folder of the skill that a file belongs to; null for none. */
  const topOf = (filename: string): string | null => {
    for (let at = filename.indexOf('/'); at !== -1; at = filename.indexOf('/', at + 1)) {
      const folder = filename.slice(0, at + 1)
      if (tops.has(folder)) return folder
    }
    return tops.has('') ? '' : null
  }
  for (const folder of folders) if (topOf(folder) === null) tops.add(folder)
  const skills = new Map<string, SkillFile[]>([...tops].map((folder) => [folder, []]))
  const others: SkillFile[] = []
  for (const file of files) {
    const folder = topOf(file.filename)
    const group = folder === null ? others : skills.get(folder)
    group?.push(file)
  }
  return { skills, others, topOf }
}

function readSkill(
  folder: string,
  files: readonly SkillFile[],
  missing: readonly (LeftOutFile & { readonly costsSkill: boolean })[],
): UploadEntry {
  const name = `${folder}${SKILL_MD}`
  const own = files.map((file) => ({ ...file, filename: file.filename.slice(folder.length) }))
  const [fatal] = missing.filter(({ costsSkill }) => costsSkill)
  if (fatal) return { name, kind: null, fault: fatal.reason }
  const remarks = missing.map(({ filename, reason }) => `skipped ${filename.slice(folder.length)}: ${reason}`)
  try {
    return { name, kind: 'skill', draft: toSkillDraft(folder.split('/').at(-2) ?? 'skill', own, remarks) }
  } catch (error) {
    return { name, kind: null, fault: faultOf(error) }
  }
}

async function* readFile({ filename, bytes }: SkillFile): AsyncGenerator<UploadEntry> {
  if (isAgentFile(filename)) return yield* readAgent(filename, bytes)
  if (MARKDOWN.test(filename)) return yield readMarkdown(filename, bytes)
  if (findFormat(filename)) return yield* readForeign(filename, bytes)
  const format = formatOf(filename)
  if (format === null) {
    const fault =
      'is not a CSV, JSON, JSONL, Markdown, .prompt.yml, .prompt, .prompty, promptfooconfig.yaml or zip file, and in no folder with a SKILL.md'
    return yield { name: filename, kind: null, fault }
  }
  try {
    for await (const row of readPromptFile({ name: filename, format, bytes: inPieces(bytes) })) {
      const name = `${filename}, ${row.number}`
      yield 'fault' in row ? { name, kind: null, fault: row.fault } : { name, kind: 'prompt', draft: row.draft }
    }
  } catch (error) {
    yield { name: filename, kind: null, fault: faultOf(error) }
  }
}

/** The prompts in a file of another tool; none where {@link findFormat} knows it not. */
export function readForeign(filename: string, bytes: Uint8Array): UploadEntry[] {
  const format = findFormat(filename)
  const entries = format ? readFormat(filename, format, bytes) : []
  return entries.map((one) => ('fault' in one ? { ...one, kind: null } : { ...one, kind: 'prompt' }))
}

/** The prompts in a file of an agent. @param isWhole as of `readAgentFile` */
export function readAgent(filename: string, bytes: Uint8Array, isWhole = false): UploadEntry[] {
  const text = decodeText(bytes)
  if (text === null) return [{ name: filename, kind: null, fault: encodingFault(bytes) }]
  let read: ReturnType<typeof readAgentFile>
  try {
    read = readAgentFile(filename, text, isWhole)
  } catch (error) {
    return [{ name: filename, kind: null, fault: faultOf(error) }]
  }
  return (read ?? []).map(({ name, row, remarks }) => {
    const title = cutCharacters(row.title.trim(), MAX_TITLE)
    const made = toRemarkedDraft({ ...row, title }, [...remarks, ...describeVariables(row.content)])
    return 'fault' in made ? { name, kind: null, fault: made.fault } : { name, kind: 'prompt', draft: made.draft }
  })
}

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const STEP = 64 * 1024
  for (let at = 0; at < bytes.length; at += STEP) {
    yield bytes.subarray(at, at + STEP)
    await setImmediate()
  }
}

/** A prompt in Markdown: its frontmatter, when it has one, says its title and more; else its title is that of the first heading or the file. */
export function readMarkdown(filename: string, bytes: Uint8Array): UploadEntry {
  const text = decodeText(bytes)
  if (text === null) return { name: filename, kind: null, fault: encodingFault(bytes) }
  const { fields, odd, body } = splitFrontmatter(text)
  const fault = fields.length === 0 ? findFrontmatterFault(text) : null
  if (fault !== null) return { name: filename, kind: null, fault }
  const known = new Map(fields)
  const start = body.replace(/^\uFEFF?(?:[ \t]*\r?\n)+/, '')
  const editor = EDITOR_PROMPT.test(filename) ? readEditorPrompt(known, start) : { content: start, remarks: [] }
  const { content } = editor
  const heading = /^#[ \t]+(.+?)[ \t#]*$/m.exec(content.slice(0, 2_000))?.[1]
  const fileTitle = (filename.split('/').at(-1) ?? filename).replace(ENDING, '').replaceAll(/[-_]+/g, ' ')
  const title = [known.get('title'), heading, known.get('name'), fileTitle].find((text) => text?.trim()) ?? ''
  const type = known.get('type')?.trim() ?? ''
  const isOtherType = type !== '' && readPromptType(type) === null
  const tags = cutLongTags(readTags(known.get('tags')))
  const remarks = [
    ...describeOddFields(odd),
    ...editor.remarks,
    ...(isOtherType ? [`left out: type "${type.slice(0, 40)}", which is none of ${PROMPT_TYPES.join(', ')}`] : []),
    ...tags.remarks,
    ...describeVariables(content),
  ]
  const row = {
    title: cutCharacters(title.trim(), MAX_TITLE),
    content,
    description: known.get('description')?.trim() || null,
    type: isOtherType ? undefined : type,
    category: known.get('category'),
    tags: tags.tags,
  }
  const made = toRemarkedDraft(row, remarks)
  return 'fault' in made ? { name: filename, kind: null, fault: made.fault } : { name: filename, kind: 'prompt', draft: made.draft }
}

/** Tags of a frontmatter: a list written as YAML, or one line with commas. */
function readTags(text: string | undefined): string[] {
  if (text === undefined) return []
  const lines = text.split('\n')
  const isList = lines.every((line) => /^\s*-\s/.test(line))
  return (isList ? lines.map((line) => line.replace(/^\s*-\s+/, '')) : text.replace(/^\[|\]$/g, '').split(','))
    .map((tag) => tag.trim().replace(/^(['"])(.*)\1$/, '$2'))
    .filter((tag) => tag !== '')
}
