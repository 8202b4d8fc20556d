import { randomUUID } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { SharedChange, SharedVersion } from '../../domain/items/changes.ts'
import { planFetch } from './fetch.ts'
import { createHistory, type History, type RepositoryAbout, type Step } from './history.ts'
import { writePack } from './objects.ts'
import type { GitAnswer, GitQuestion, NumberedAnswer, NumberedQuestion } from './repositories.ts'

/** Bytes of one history: a clone of it is about as large. */
const MAX_HISTORY_BYTES = 512 * 1024 * 1024
/** Bytes of all histories; the one used longest ago goes first. */
const MAX_BYTES = 768 * 1024 * 1024
/** Of the objects beside their bytes, and of an entry. */
const OBJECT_BYTES = 300
const ENTRY_BYTES = 300
const MAX_PACKS = 200
/** How long a pack waits for its next piece: longer than a download may take. */
const PACK_IDLE_MS = 11 * 60_000
/** Most entries of one history. */
const MAX_ENTRIES = 500_000
/** Versions of one question, and skills among them, each of up to 8 MiB. */
const MAX_VERSIONS = 50
const SKILLS_A_PAGE = 4

/** A history with the entries that are in it. */
interface OpenHistory {
  readonly history: History
  readonly about: string
  changes: readonly SharedChange[]
  /** Entries that were added, of the above. */
  count: number
  /** Entries of one revision whose last may still come. */
  waiting: Step[]
}

const histories = new Map<string, OpenHistory>()
/** Packs that are being sent. Their names are those of no other thread's: a reader of one that has ended gets nothing of another's. */
const packs = new Map<string, { readonly pieces: Iterator<Uint8Array<ArrayBuffer>>; usedMs: number }>()

/** Forgets packs that nobody has asked for a piece of. */
function dropIdlePacks(): void {
  const since = performance.now() - PACK_IDLE_MS
  for (const [name, { usedMs }] of packs) if (usedMs < since) packs.delete(name)
}

const sizeOf = ({ history, changes }: OpenHistory) => history.bytes + history.objects.size * OBJECT_BYTES + changes.length * ENTRY_BYTES

function use(key: string): OpenHistory | null {
  const open = histories.get(key)
  if (!open) return null
  histories.delete(key)
  histories.set(key, open)
  return open
}

function dropOthers(key: string): void {
  let total = [...histories.values()].reduce((sum, open) => sum + sizeOf(open), 0)
  for (const [other, open] of histories) {
    if (total <= MAX_BYTES) return
    if (other === key) continue
    histories.delete(other)
    total -= sizeOf(open)
  }
}

const isSame = (a: SharedChange | undefined, b: SharedChange | undefined) =>
  a !== undefined && b !== undefined && a.seq === b.seq && a.path === b.path && a.files === b.files && a.isKept === b.isKept

/** Lists that are being sent, by key. */
const lists = new Map<string, SharedChange[]>()

function list(key: string, isFirst: boolean, changes: readonly SharedChange[]): GitAnswer {
  const all = (isFirst ? null : lists.get(key)) ?? []
  for (const change of changes) all.push(change)
  if (all.length > 0) lists.set(key, all)
  else lists.delete(key)
  if (all.length <= MAX_ENTRIES) return { kind: 'listed', count: all.length }
  lists.delete(key)
  return { kind: 'failed', reason: 'too-large', message: 'the list is too long' }
}

function open(key: string, about: RepositoryAbout): GitAnswer {
  const changes = (lists.get(key) ?? []).sort((a, b) => a.seq - b.seq)
  lists.delete(key)
  const text = JSON.stringify(about)
  const known = use(key)
  if (known && known.about === text && isBeginning(known, changes)) known.changes = changes
  else histories.set(key, { history: createHistory(about), about: text, changes, count: 0, waiting: [] })
  return askForMore(key)
}

/** The next entries that are to be added: few where texts may be large. */
function askForMore(key: string): GitAnswer {
  const opened = histories.get(key)
  if (!opened) return { kind: 'gone' }
  const wanted: number[] = []
  let skills = 0
  for (let place = opened.count; place < opened.changes.length && wanted.length < MAX_VERSIONS; place++) {
    const change = opened.changes[place]
    if (!change || (change.kind === 'skill' && ++skills > SKILLS_A_PAGE)) break
    wanted.push(change.seq)
  }
  return { kind: 'wanted', changes: wanted }
}

/** Whether a history holds the first of these entries, and no half of a commit. */
function isBeginning({ changes: held, count, waiting }: OpenHistory, changes: readonly SharedChange[]): boolean {
  if (waiting.length > 0 || count > changes.length) return false
  if (count > 0 && changes[count]?.revision === changes[count - 1]?.revision) return false
  for (let place = 0; place < count; place++) if (!isSame(held[place], changes[place])) return false
  return true
}

function add(key: string, versions: readonly SharedVersion[]): GitAnswer {
  const opened = use(key)
  if (!opened) return { kind: 'gone' }
  for (const version of versions) {
    const change = opened.changes[opened.count]
    if (change?.seq !== version.seq) return { kind: 'gone' }
    opened.waiting.push({ change, version })
    opened.count++
    if (opened.changes[opened.count]?.revision === change.revision) continue
    opened.history.add(opened.waiting)
    opened.waiting = []
  }
  if (sizeOf(opened) > MAX_HISTORY_BYTES) {
    histories.delete(key)
    return { kind: 'failed', reason: 'too-large', message: 'the history is too large' }
  }
  dropOthers(key)
  return askForMore(key)
}

function answer(question: GitQuestion): GitAnswer {
  switch (question.kind) {
    case 'list':
      return list(question.key, question.isFirst, question.changes)
    case 'open':
      return open(question.key, question.about)
    case 'add':
      return add(question.key, question.versions)
    case 'tip': {
      const opened = use(question.key)
      return opened ? { kind: 'tip', tip: opened.history.commits.at(-1)?.id ?? null, bytes: sizeOf(opened) } : { kind: 'gone' }
    }
    case 'fetch': {
      const opened = question.keys.flatMap((key) => use(key)?.history ?? [])
      if (opened.length < question.keys.length) return { kind: 'gone' }
      const { objects, ...plan } = planFetch(opened, question.request)
      if (objects === null) return { kind: 'plan', plan, pack: null }
      dropIdlePacks()
      if (packs.size >= MAX_PACKS) return { kind: 'failed', reason: 'fault', message: 'too many packs are being sent' }
      const pack = randomUUID()
      packs.set(pack, { pieces: writePack(objects), usedMs: performance.now() })
      return { kind: 'plan', plan, pack }
    }
    case 'next': {
      const pack = packs.get(question.pack)
      if (!pack) return { kind: 'gone' }
      pack.usedMs = performance.now()
      const piece = pack.pieces.next()
      if (piece.done) {
        packs.delete(question.pack)
        return { kind: 'piece', bytes: null }
      }
      return { kind: 'piece', bytes: piece.value }
    }
    case 'cancel':
      packs.delete(question.pack)
      return { kind: 'piece', bytes: null }
  }
}

parentPort?.on('message', ({ number, question }: NumberedQuestion) => {
  const before = process.threadCpuUsage()
  let result: GitAnswer
  try {
    result = answer(question)
  } catch (error) {
    result = { kind: 'failed', reason: 'fault', message: error instanceof Error ? error.message : String(error) }
  }
  const transfer = result.kind === 'piece' && result.bytes ? [result.bytes.buffer] : []
  const { user, system } = process.threadCpuUsage(before)
  parentPort?.postMessage({ number, answer: result, cpuMs: (user + system) / 1000 } satisfies NumberedAnswer, transfer)
})
