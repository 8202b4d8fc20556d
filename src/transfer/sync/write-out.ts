import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkSkillFiles, decodeText, fileMode, type SkillFile } from '../../domain/skills/skill.ts'
import { AppError } from '../../errors.ts'
import { kindOf, type SyncStep } from './plan-sync.ts'
import { conflictName, digestSkill, readSkill } from './scan-folder.ts'
import { findPrompt, findSkill, type Run, readPromptBytes, readSkillFiles, saveState } from './sync-run.ts'
import { sha256, writeSyncedPrompt } from './synced-prompt.ts'

/** How much of a digest marks a copy; the longer ones are for copies that somebody edited. */
const COPY_MARKS = [12, 20, 32, 64]

type Written = Pick<Extract<SyncStep, { do: 'write-file' }>, 'path' | 'item' | 'entry' | 'from'>

/** Writes an item to the folder, over what the folder had, and notes the state. */
export async function writeOut(run: Run, { path, item, entry, from }: Written): Promise<void> {
  const { store, report, writer, root } = run
  if (item.kind === 'prompt') {
    const { prompt, noted } = await findPrompt(run, store, item.id)
    const before = entry ? decodeText(await readPromptBytes(run, path, entry.digest)) : null
    const bytes = Buffer.from(writeSyncedPrompt(prompt, before, run.categories), 'utf8')
    const digest = sha256(bytes)
    if (digest !== entry?.digest) {
      const late = await writer.write(path, bytes, entry?.digest ?? null)
      if (late) await keepCopy(run, path, [{ filename: '', bytes: late }])
    }
    return await saveState(run, from, { path, digest, ...noted })
  }
  const { files, noted } = await findSkill(run, store, item.id)
  checkSkillFiles(files)
  const old = new Map(
    entry ? (await readSkillFiles(run, path, entry.digest, item.filenames)).map(({ filename, bytes }) => [filename, sha256(bytes)]) : [],
  )
  const names = new Set(files.map((file) => file.filename))
  for (const [filename, digest] of old) {
    // SKILL.md is always among the names, so the folder never vanishes.
    if (!names.has(filename)) await writer.remove(`${path}/${filename}`, digest)
  }
  for (const file of files) {
    const { filename, bytes } = file
    const expected = old.get(filename) ?? null
    if (expected === sha256(bytes)) continue
    const late = await writer.write(`${path}/${filename}`, bytes, expected, fileMode(file) & 0o111)
    if (late) await keepCopy(run, path, [{ filename, bytes: late }])
  }
  // What else was written into the folder meanwhile is a change of the folder, which the next sync finds.
  const { files: now } = await readSkill(root, path, names)
  const digest = noted.libraryDigest
  if (digestSkill(now) !== digest) report.remarks.push(`${path} has other files than the library. The next sync compares them.`)
  await saveState(run, from, { path, digest, ...noted })
}

/** The name of the copy that a dry run would keep. */
export function nameCopy(path: string, digest: string): string {
  return conflictName(path, digest.slice(0, COPY_MARKS[0]))
}

/** Keeps what the folder had beside it: a file, or a folder of a skill's files. The same content is kept once. @returns its path */
export async function keepCopy({ root, writer }: Run, path: string, files: readonly SkillFile[]): Promise<string> {
  const digest = digestSkill(files)
  for (const length of COPY_MARKS) {
    const copy = conflictName(path, digest.slice(0, length))
    const missing: (readonly [string, Uint8Array])[] = []
    let isOther = false
    for (const { filename, bytes } of files) {
      const name = filename === '' ? copy : `${copy}/${filename}`
      const there = await readFile(join(root, name)).catch(() => null)
      if (there === null) missing.push([name, bytes])
      // Somebody works in the copy.
      else if (Buffer.compare(there, bytes) !== 0) isOther = true
    }
    if (isOther) continue
    for (const [name, bytes] of missing) await writer.write(name, bytes, null)
    return copy
  }
  throw new AppError('conflict', `its copies of conflicts were all edited. Delete them, and sync again`)
}

/** Removes what was read of a path, and nothing that is newer. */
export async function removeFromFolder(run: Run, path: string, digest: string): Promise<void> {
  if (kindOf(path) === 'prompt') return await run.writer.remove(path, digest)
  for (const { filename, bytes } of await readSkillFiles(run, path, digest, []))
    await run.writer.remove(`${path}/${filename}`, sha256(bytes))
}
