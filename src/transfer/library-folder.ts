import { createWriteStream } from 'node:fs'
import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { EXPORT_NAMES, toExportEntry, toExportLine } from '../domain/service/transfer.ts'
import { fileMode } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'
import type { ExportReader, LibraryStore } from '../storage/store.ts'
import {
  createPeople,
  importCategories,
  readSkillsIndex,
  readTeams,
  type SkillMetadata,
  type SkillsIndex,
  writeList,
} from './export-lists.ts'
import { type ImportReport, importPrompts, importSkills, mergeReports } from './import-entries.ts'
import type { ImportOptions } from './prepare-prompt.ts'
import { readPromptFile } from './prompt-file.ts'
import { writeWholeFolder } from './skill-folder.ts'

const PROMPTS_A_PAGE = 200
/** Fewer, as skills come with all their files, of up to 8 MiB each. */
const SKILLS_A_PAGE = 5

async function* readPages<T extends { readonly order: number }>(limit: number, read: (after: number) => Promise<readonly T[]>) {
  for (let after = 0; ; ) {
    const page = await read(after)
    yield* page
    if (page.length < limit) return
    after = page.at(-1)?.order ?? after
  }
}

/** The prompts of an owner, or of everybody. */
export const readPrompts = (reader: ExportReader, ownerId: string | null) =>
  readPages(PROMPTS_A_PAGE, (after) => reader.exportPrompts(ownerId, after, PROMPTS_A_PAGE))

/** The skills of an owner, or of everybody, with their files. */
export const readSkills = (reader: ExportReader, ownerId: string | null) =>
  readPages(SKILLS_A_PAGE, (after) => reader.exportSkills(ownerId, after, SKILLS_A_PAGE))

/** Names of what an imported library may hold. */
const PROMPT_FILES = [EXPORT_NAMES.prompts, 'prompts.json', 'prompts.csv'] as const
const { skillsIndex: SKILLS_INDEX, skillsFolder: SKILLS_FOLDER, categories: CATEGORIES, teams: TEAMS } = EXPORT_NAMES
/** Files that only whole exports of 0.2.0 hold. */
const EARLIER_HISTORY = 'history'
/** An export holds everybody's private items. */
const OWNER_ONLY_FOLDER = 0o700
const OWNER_ONLY_FILE = 0o600

/** The counts of an export. */
export interface ExportReport {
  readonly prompts: number
  readonly skills: number
}

/**
 * Writes a library (or one owner's part) as files: `prompts.jsonl`, `skills.json`, a folder for each skill, `categories.json`, and `teams.json`.
 * The export is a snapshot. Versions, votes and the trash stay in the database. The folder appears whole or not at all.
 * @throws AppError `invalid_input` when the folder cannot be made, or has something in it
 */
export async function exportLibrary(store: LibraryStore['transfer'], folder: string, ownerId: string | null): Promise<ExportReport> {
  return await writeWholeFolder(folder, OWNER_ONLY_FOLDER, (partial) =>
    store.readSnapshot((reader) => writeItems(reader, partial, ownerId)),
  )
}

async function writeItems(reader: ExportReader, folder: string, ownerId: string | null): Promise<ExportReport> {
  await mkdir(join(folder, SKILLS_FOLDER), { mode: OWNER_ONLY_FOLDER })
  const used = new Set<string>()
  const prompts = await writePrompts(reader, join(folder, PROMPT_FILES[0]), ownerId, used)
  const skills = await writeSkills(reader, folder, ownerId, used)
  const categories = await reader.exportCategories()
  const parents = new Set(categories.flatMap(({ slug, parent }) => (used.has(slug) ? (parent ?? []) : [])))
  const written = ownerId === null ? categories : categories.filter(({ slug }) => used.has(slug) || parents.has(slug))
  await writeList(join(folder, CATEGORIES), written, OWNER_ONLY_FILE)
  await writeList(join(folder, TEAMS), await reader.exportTeams(ownerId), OWNER_ONLY_FILE)
  return { prompts, skills }
}

/** @param used gets the slugs of the categories that items are in */
async function writePrompts(reader: ExportReader, path: string, ownerId: string | null, used: Set<string>): Promise<number> {
  let written = 0
  async function* lines(): AsyncGenerator<string> {
    for await (const exported of readPrompts(reader, ownerId)) {
      written++
      if (exported.prompt.category) used.add(exported.prompt.category.slug)
      yield `${toExportLine(exported)}\n`
    }
  }
  await pipeline(lines, createWriteStream(path, { flush: true, mode: OWNER_ONLY_FILE }))
  return written
}

async function writeSkills(reader: ExportReader, folder: string, ownerId: string | null, used: Set<string>): Promise<number> {
  const index: SkillsIndex = []
  for await (const { files, ...exported } of readSkills(reader, ownerId)) {
    const { skill } = exported
    if (skill.category) used.add(skill.category.slug)
    index.push(toExportEntry(exported))
    for (const file of files) {
      // Stored filenames are plain relative paths by the rules they were saved under.
      const path = join(folder, SKILLS_FOLDER, skill.slug, file.filename)
      await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER })
      await writeFile(path, file.bytes, { flush: true, mode: OWNER_ONLY_FILE | (fileMode(file) & 0o700) })
    }
  }
  await writeList(join(folder, SKILLS_INDEX), index, OWNER_ONLY_FILE)
  return index.length
}

/**
 * Imports a folder that {@link exportLibrary} wrote (or one laid out like it): owners, authors, addresses and times as they were. Missing
 * teams are created without members.
 * @throws AppError `invalid_input` when the folder is no exported library
 */
export async function importLibrary(store: LibraryStore, folder: string, options: ImportOptions) {
  if ((await lstat(folder).catch(() => null)) === null) throw new AppError('invalid_input', `${folder} does not exist.`)
  const promptsFile = await findPromptsFile(folder)
  const metadata = await readSkillsIndex(join(folder, SKILLS_INDEX))
  if (promptsFile === null && metadata.size === 0) {
    throw new AppError('invalid_input', `No library found in ${folder}: no prompts.jsonl or skills.json.`)
  }
  const teams = options.owner === undefined ? await readTeams(join(folder, TEAMS)) : null
  const owners = teams && teams.size > 0 ? await readOwners(promptsFile, metadata) : new Set<string>()
  const madeCategories = await importCategories(store, join(folder, CATEGORIES))
  const people = createPeople({ teams, owners })
  const reports: ImportReport[] = []
  if (promptsFile !== null) reports.push(await importPrompts(store, promptsFile, options, people))
  if (metadata.size > 0) reports.push(await importSkills(store, join(folder, SKILLS_FOLDER), options, metadata, people))
  return { report: mergeReports(reports), madeOwners: people.madeOwners, madeTeams: people.madeTeams, madeCategories }
}

/** The owners that an export names, in lower case. */
async function readOwners(promptsFile: string | null, skills: ReadonlyMap<string, SkillMetadata>): Promise<Set<string>> {
  const owners = new Set<string>()
  const add = (name: string | undefined) => name !== undefined && owners.add(name.toLowerCase())
  for (const { owner } of skills.values()) add(owner)
  if (promptsFile !== null) for await (const row of readPromptFile(promptsFile)) if ('draft' in row) add(row.draft.owner)
  return owners
}

/** Whether a path is a whole library by its looks: a file, or a folder that `export --full` of 0.2.0 wrote. */
export async function isWholeLibrary(path: string): Promise<boolean> {
  const about = await lstat(path).catch(() => null)
  return about?.isFile() === true || (await lstat(join(path, EARLIER_HISTORY)).catch(() => null)) !== null
}

async function findPromptsFile(folder: string): Promise<string | null> {
  for (const name of PROMPT_FILES) {
    const path = join(folder, name)
    if (await lstat(path).catch(() => null)) return path
  }
  return null
}

/** The owner of the starter library. */
const OWNER = 'commonplace'
/** Two folders below the root, as the sources and the built program both stand. */
const FOLDER = new URL('../../starter', import.meta.url)

/** Fills an empty library in one transaction, so that only one of several instances does. Returns the number of items. */
export async function loadStarter(store: LibraryStore): Promise<number> {
  if (!(await store.service.isEmpty())) return 0
  return await store.inTransaction(async (transaction) => {
    if (!(await transaction.service.isEmpty())) return 0
    const { report } = await importLibrary(transaction, fileURLToPath(FOLDER), { owner: OWNER, visibility: 'public' })
    return report.created
  })
}
