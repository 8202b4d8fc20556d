import { actorOf } from '../../domain/people/actor.ts'
import { decodeText, SKILL_MD, type SkillFile } from '../../domain/skills/skill.ts'
import { diffByLines } from '../../domain/text/text-diff.ts'
import type { SyncStep } from './plan-sync.ts'
import { findPrompt, findSkill, type Run, readDraft, readPromptBytes, readSkillFiles, type SyncReport, saveState } from './sync-run.ts'
import { isSamePrompt, sha256, writeSyncedPrompt } from './synced-prompt.ts'
import { keepCopy, nameCopy, writeOut } from './write-out.ts'

/** Most changed lines of a conflict that are shown, and longest line, in characters. */
const MAX_DIFF_LINES = 40
const MAX_LINE = 200

type Compared = Extract<SyncStep, { do: 'compare' }>

/** Notes that a file and a prompt are equal, or keeps both. */
export async function comparePrompt(run: Run, step: Compared): Promise<void> {
  const { store, isDryRun } = run
  const { path, item, entry, from } = step
  const bytes = await readPromptBytes(run, path, entry.digest)
  const { prompt, noted } = await findPrompt(run, store, item.id)
  const draft = await Promise.resolve()
    .then(() => readDraft(run, path, bytes, prompt))
    .catch(() => null)
  if (draft && isSamePrompt(prompt, draft)) {
    if (!isDryRun) await saveState(run, from, { path, digest: entry.digest, ...noted })
    return
  }
  const copy = isDryRun ? nameCopy(path, entry.digest) : await keepCopy(run, path, [{ filename: '', bytes }])
  if (!isDryRun) await writeOut(run, step)
  const text = decodeText(bytes)
  const diff = text === null ? '' : showDiff(writeSyncedPrompt(prompt, null, run.categories), text)
  noteConflict(run.report, path, copy, diff)
}

/** Notes that a folder and a skill are equal, or keeps both. */
export async function compareSkill(run: Run, step: Compared): Promise<void> {
  const { store, user, isDryRun, report } = run
  const { path, item, entry, from } = step
  const files = await readSkillFiles(run, path, entry.digest, item.filenames)
  const { files: current, noted } = await findSkill(run, store, item.id)
  if (noted.libraryDigest === entry.digest) {
    if (!isDryRun) await saveState(run, from, { path, digest: entry.digest, ...noted })
    return
  }
  // A sync that was killed leaves some files of the old version and some of the new one: nothing of the folder's own.
  const base = from && from.itemId === item.id ? await store.items.findVersion(actorOf(user, ['read']), item.id, from.version) : null
  const known = new Set([...(base?.files ?? []), ...current].map(({ filename, bytes }) => `${filename}\0${sha256(bytes)}`))
  if (files.every(({ filename, bytes }) => known.has(`${filename}\0${sha256(bytes)}`))) {
    if (!isDryRun) await writeOut(run, step)
    report.written++
    report.changes.push(`${path}: written in the folder.`)
    return
  }
  const copy = isDryRun ? nameCopy(path, entry.digest) : await keepCopy(run, path, files)
  if (!isDryRun) await writeOut(run, step)
  const find = (list: readonly SkillFile[], name: string) => list.find((file) => file.filename === name)?.bytes ?? new Uint8Array()
  const changed = [...new Set([...files, ...current].map((file) => file.filename))].filter(
    (name) => Buffer.compare(find(files, name), find(current, name)) !== 0,
  )
  const first = changed.includes(SKILL_MD) ? SKILL_MD : changed[0]
  const [one, other] = first === undefined ? [null, null] : [decodeText(find(current, first)), decodeText(find(files, first))]
  const diff = one === null || other === null ? '' : showDiff(one, other)
  noteConflict(report, path, copy, `Files that differ: ${changed.slice(0, 10).join(', ')}${changed.length > 10 ? ', …' : ''}\n${diff}`)
}

function noteConflict(report: SyncReport, path: string, copy: string, diff: string): void {
  report.conflicts++
  report.changes.push(
    `Conflict: ${path} changed on both sides. The library's version stays; the folder's is kept as ${copy}.\n${diff}`.trimEnd(),
  )
}

/** The changed lines: `-` of the library, `+` of the folder. */
function showDiff(library: string, folder: string): string {
  const lines = diffByLines(library, folder).flatMap(({ kind, text }) =>
    kind === 'same'
      ? []
      : text
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => `${kind === 'added' ? '+' : '-'} ${line.slice(0, MAX_LINE)}`),
  )
  return [
    ...lines.slice(0, MAX_DIFF_LINES),
    ...(lines.length > MAX_DIFF_LINES ? [`… ${lines.length - MAX_DIFF_LINES} more lines`] : []),
  ].join('\n')
}
