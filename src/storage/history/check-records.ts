import { AppError } from '../../errors.ts'
import { normalizeFilename } from '../../library/filename.ts'
import type { ItemState, RecordOf } from '../../library/history-records.ts'
import { checkSkillFiles } from '../../library/skill.ts'
import { toTags } from '../../library/tags.ts'

/** A version, with the fields that the newest one takes from its item. */
export function completeState(item: ItemState & { readonly version: number }, version: RecordOf<'version'>, what: string): ItemState {
  const newest = version.number === item.version ? item : null
  const { title = newest?.title, description = newest?.description, category = newest?.category } = version
  const { tags = newest?.tags, visibility = newest?.visibility } = version
  if (title === undefined || description === undefined || category === undefined || !tags || !visibility) refuse(`${what} is not whole`)
  const [type, content, files] = [version.type ?? newest?.type, version.content ?? newest?.content, version.files ?? newest?.files]
  return { title, description, category, tags, visibility, type, content, files }
}

/** @throws AppError `invalid_input` for a prompt with files, a skill without, and names and sizes that no skill may have */
export function checkState(kind: 'prompt' | 'skill', { type, content, files, tags }: ItemState, what: string): void {
  const isPrompt = type !== undefined && content !== undefined && files === undefined
  const isSkill = type === undefined && content === undefined && files !== undefined
  if (kind === 'prompt' ? !isPrompt : !isSkill) refuse(`${what} does not hold what a ${kind} holds`)
  try {
    if (toTags(tags).length !== tags.length) refuse(`${what} has a tag twice`)
    if (!files) return
    checkSkillFiles(files.map(({ filename, size }) => ({ filename, bytes: { length: size } })))
    const odd = files.find(({ filename }) => normalizeFilename(filename) !== filename)
    if (odd) refuse(`the file "${shorten(odd.filename)}" has a name that is not in NFC`)
  } catch (error) {
    throw error instanceof AppError ? new AppError('invalid_input', `${what}: ${error.message}`, { cause: error }) : error
  }
}

export function shorten(text: string): string {
  return text.slice(0, 80).toWellFormed()
}

/** @throws AppError `invalid_input` */
export function refuse(reason: string): never {
  throw new AppError('invalid_input', `The export cannot be imported: ${reason}.`)
}
