import { createWriteStream } from 'node:fs'
import { lstat, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { EXPORT_NAMES, toExportEntry, toExportLine } from '../library/exported-items.ts'
import type { LibraryStore } from '../library/ports.ts'
import { VISIBILITIES } from '../library/visibility.ts'
import { type ImportOptions, importPrompts } from './import-prompts.ts'
import { importSkills, type SkillMetadata } from './import-skills.ts'
import { createPeople } from './people.ts'
import { type ImportReport, mergeReports } from './report.ts'
import { writeWholeFolder } from './whole-folder.ts'

/** Names of what an imported library may hold. */
const PROMPT_FILES = [EXPORT_NAMES.prompts, 'prompts.json', 'prompts.csv'] as const
const { skillsIndex: SKILLS_INDEX, skillsFolder: SKILLS_FOLDER } = EXPORT_NAMES
const PAGE = 200
/** An export holds everybody's private items. */
const OWNER_ONLY_FOLDER = 0o700
const OWNER_ONLY_FILE = 0o600

const skillsIndex = z.array(
  z.object({
    folder: z.string(),
    title: z.string().optional(),
    description: z.string().nullable().optional(),
    category: z.string().nullable().optional(),
    tags: z.array(z.string()).optional(),
    owner: z.string().optional(),
    author: z.string().optional(),
    contributors: z.array(z.string()).optional(),
    visibility: z.enum(VISIBILITIES).optional(),
    id: z.string().optional(),
    slug: z.string().optional(),
    createdAt: z.iso.datetime().optional(),
    updatedAt: z.iso.datetime().optional(),
  }),
)

/** What an export wrote. */
export interface ExportReport {
  readonly prompts: number
  readonly skills: number
}

/**
 * Writes a library (or one owner's part) as files: `prompts.jsonl`, `skills.json`, and a folder for each skill.
 * Versions, votes and the trash stay in the database. The folder appears whole or not at all.
 * @throws AppError `invalid_input` when the folder cannot be made, or has something in it
 */
export async function exportLibrary(store: LibraryStore, folder: string, ownerId: string | null): Promise<ExportReport> {
  return await writeWholeFolder(folder, OWNER_ONLY_FOLDER, async (partial) => {
    await mkdir(join(partial, SKILLS_FOLDER), { mode: OWNER_ONLY_FOLDER })
    const prompts = await writePrompts(store, join(partial, PROMPT_FILES[0]), ownerId)
    const skills = await writeSkills(store, partial, ownerId)
    return { prompts, skills }
  })
}

async function writePrompts(store: LibraryStore, path: string, ownerId: string | null): Promise<number> {
  let written = 0
  async function* lines(): AsyncGenerator<string> {
    for (let after = 0; ; ) {
      const page = await store.exportPrompts(ownerId, after, PAGE)
      for (const { order, prompt, owner } of page) {
        after = order
        written++
        yield `${toExportLine(prompt, owner)}\n`
      }
      if (page.length < PAGE) return
    }
  }
  await pipeline(lines, createWriteStream(path, { flush: true, mode: OWNER_ONLY_FILE }))
  return written
}

async function writeSkills(store: LibraryStore, folder: string, ownerId: string | null): Promise<number> {
  const index: z.infer<typeof skillsIndex> = []
  for (let after = 0; ; ) {
    const page = await store.exportSkills(ownerId, after, PAGE)
    for (const { order, skill, owner, files } of page) {
      after = order
      index.push(toExportEntry(skill, owner))
      for (const file of files) {
        // Stored filenames are plain relative paths by the rules they were saved under.
        const path = join(folder, SKILLS_FOLDER, skill.slug, file.filename)
        await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER })
        await writeFile(path, file.bytes, { flush: true, mode: OWNER_ONLY_FILE })
      }
    }
    if (page.length < PAGE) break
  }
  await writeFile(join(folder, SKILLS_INDEX), `${JSON.stringify(index, null, 2)}\n`, { flush: true, mode: OWNER_ONLY_FILE })
  return index.length
}

/**
 * Imports a folder that {@link exportLibrary} wrote (or one laid out like it): owners, authors, addresses and times as they were.
 * @throws AppError `invalid_input` when the folder is no exported library
 */
export async function importLibrary(
  store: LibraryStore,
  folder: string,
  options: ImportOptions,
): Promise<{ report: ImportReport; madeOwners: readonly string[] }> {
  if ((await lstat(folder).catch(() => null)) === null) throw new AppError('invalid_input', `${folder} does not exist.`)
  const people = createPeople()
  const reports: ImportReport[] = []
  for (const name of PROMPT_FILES) {
    const path = join(folder, name)
    if (await lstat(path).catch(() => null)) {
      reports.push(await importPrompts(store, path, options, people))
      break
    }
  }
  const skillsFolder = join(folder, SKILLS_FOLDER)
  const metadata = await readSkillsIndex(join(folder, SKILLS_INDEX))
  if (metadata.size > 0) reports.push(await importSkills(store, skillsFolder, options, metadata, people))
  if (reports.length === 0) throw new AppError('invalid_input', `${folder} holds no library: no prompts.jsonl and no skills.json.`)
  return { report: mergeReports(reports), madeOwners: people.madeOwners }
}

async function readSkillsIndex(path: string): Promise<Map<string, SkillMetadata>> {
  const about = await lstat(path).catch(() => null)
  if (about === null) return new Map()
  if (!about.isFile()) throw new AppError('invalid_input', `${path} is not a regular file; links are not followed.`)
  const text = await readFile(path, 'utf8')
  try {
    return new Map(skillsIndex.parse(JSON.parse(text)).map(({ folder, ...metadata }) => [folder, metadata]))
  } catch (error) {
    throw new AppError('invalid_input', `${path} is not a list of skills as an export writes it.`, { cause: error })
  }
}
