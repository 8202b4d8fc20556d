import { basename, relative, resolve } from 'node:path'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import type { SkillMetadata } from './export-lists.ts'
import { type ImportEntry, importEntries } from './import-entries.ts'
import { createPeople, type People } from './people.ts'
import type { ImportOptions } from './prepare-prompt.ts'
import { faultOf } from './regular-file.ts'
import type { ImportReport } from './report.ts'
import { findSkillFolders, readSkillFolder } from './skill-folder.ts'

/** Reasons named where no skill is found. */
const MAX_REASONS = 20

/**
 * Imports every skill below a folder, each in its own transaction; matched like prompts, and by the path of its folder.
 * @param metadata index data of each skill, by its path below `folder`; skills missing there are refused. Null: no index
 * @throws AppError `invalid_input` when the folder or the owner cannot be used at all
 */
export async function importSkills(
  store: LibraryStore,
  folder: string,
  options: ImportOptions,
  metadata: ReadonlyMap<string, SkillMetadata> | null = null,
  people: People = createPeople(),
): Promise<ImportReport> {
  const passedOver: ImportEntry[] = []
  const reasons: string[] = []
  const folders = await findSkillFolders(folder, (path, reason) => {
    const name = relative(folder, path)
    passedOver.push({ name, kind: 'passed', reason })
    if (reasons.length < MAX_REASONS) reasons.push(` ${name}: ${reason}.`)
  })
  if (folders.length === 0) {
    throw new AppError('invalid_input', `No skill found in ${folder}: no folder has a SKILL.md.${reasons.join('')}`)
  }
  async function* read(): AsyncGenerator<ImportEntry> {
    yield* passedOver
    for (const path of folders) yield await readOne(path)
  }
  const readOne = async (path: string): Promise<ImportEntry> => {
    const inside = relative(folder, path)
    const name = `Skill ${inside || basename(path)}`
    try {
      const known = metadata?.get(inside || basename(path))
      if (metadata && !known) throw new AppError('invalid_input', 'it is not in the index')
      const draft = await readSkillFolder(path, { isExport: known?.title !== undefined })
      // What an export says of its items is worth more than where it lies.
      const place = metadata ? undefined : { root: resolve(folder), path: inside }
      return { name, kind: 'skill', draft, known: known ?? {}, place, again: () => readOne(path) }
    } catch (error) {
      return { name, kind: null, fault: faultOf(error) }
    }
  }
  return await importEntries(store, read(), options, people)
}
