import { parentPort } from 'node:worker_threads'
import type { SharedChange, SharedVersion } from '../../library/shared-changes.ts'
import { planFetch } from './fetch.ts'
import { createHistory, type History, type RepositoryAbout, type Step } from './history.ts'
import type { GitAnswer, GitQuestion, NumberedAnswer, NumberedQuestion } from './messages.ts'
import { writePack } from './pack.ts'

/** Bytes of one history: a clone of it is about as large. */
const MAX_HISTORY_BYTES = 512 * 1024 * 1024
/** Bytes of all histories; the one used longest ago goes first. */
const MAX_BYTES = 768 * 1024 * 1024
/** Of the objects beside their bytes, and of an entry. */
const OBJECT_BYTES = 300
const ENTRY_BYTES = 300
const MAX_PACKS = 200

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
const packs = new Map<number, Iterator<Uint8Array<ArrayBuffer>>>()
let lastPack = 0

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
  a !== undefined && b !== undefined && a.seq === b.seq && a.path === b.path && a.isKept === b.isKept

function open(key: string, about: RepositoryAbout, changes: readonly SharedChange[]): GitAnswer {
  const known = use(key)
  const text = JSON.stringify(about)
  if (known && known.about === text && isBeginning(known, changes)) {
    known.changes = changes
    return { kind: 'held', count: known.count }
  }
  histories.set(key, { history: createHistory(about), about: text, changes, count: 0, waiting: [] })
  return { kind: 'held', count: 0 }
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
  return { kind: 'held', count: opened.count }
}

function answer(question: GitQuestion): GitAnswer {
  switch (question.kind) {
    case 'open':
      return open(question.key, question.about, question.changes)
    case 'add':
      return add(question.key, question.versions)
    case 'tip': {
      const opened = use(question.key)
      return opened ? { kind: 'tip', tip: opened.history.commits.at(-1)?.id ?? null } : { kind: 'gone' }
    }
    case 'fetch': {
      const opened = use(question.key)
      if (!opened) return { kind: 'gone' }
      const { objects, ...plan } = planFetch(opened.history, question.request)
      if (objects === null) return { kind: 'plan', plan, pack: null }
      if (packs.size >= MAX_PACKS) return { kind: 'failed', reason: 'fault', message: 'too many packs are being sent' }
      packs.set(++lastPack, writePack(opened.history.objects, objects))
      return { kind: 'plan', plan, pack: lastPack }
    }
    case 'next': {
      const piece = packs.get(question.pack)?.next()
      if (!piece || piece.done) {
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
  let result: GitAnswer
  try {
    result = answer(question)
  } catch (error) {
    result = { kind: 'failed', reason: 'fault', message: error instanceof Error ? error.message : String(error) }
  }
  const transfer = result.kind === 'piece' && result.bytes ? [result.bytes.buffer] : []
  parentPort?.postMessage({ number, answer: result } satisfies NumberedAnswer, transfer)
})
