import { AppError } from '../../errors.ts'
import type { FetchRequest } from './fetch.ts'
import type { ObjectId } from './objects.ts'
import type { PktLine } from './pkt-line.ts'

/** Most wants, haves and shallow commits of one request. */
const MAX_IDS = 5_000

/** A request that gets no answer. */
const UNSUPPORTED: ReadonlySet<string> = new Set(['deepen-not', 'deepen-relative', 'deepen-since', 'filter', 'packfile-uris', 'want-ref'])

/** A request while it is read. */
interface Draft {
  readonly wants: Set<ObjectId>
  readonly haves: Set<ObjectId>
  readonly shallows: Set<ObjectId>
  isDone: boolean
  depth: number | null
}

/** A fetch, from its lines. @throws AppError `invalid_input` */
export function readFetch(lines: readonly PktLine[]): FetchRequest {
  const draft: Draft = { wants: new Set(), haves: new Set(), shallows: new Set(), isDone: false, depth: null }
  const start = lines.findIndex(({ kind }) => kind === 'delimiter')
  for (const line of start < 0 ? [] : lines.slice(start + 1)) {
    if (line.kind !== 'data') continue
    const [name = '', value = ''] = line.text.split(' ', 2)
    if (UNSUPPORTED.has(name)) {
      throw new AppError('invalid_input', `"${name}" is not supported here. Fetch with --depth or --unshallow.`)
    }
    readWord(draft, name, value)
    if (draft.wants.size + draft.haves.size + draft.shallows.size > MAX_IDS) {
      throw new AppError('invalid_input', `A request names at most ${MAX_IDS} commits.`)
    }
  }
  return { ...draft, wants: [...draft.wants], haves: [...draft.haves], shallows: [...draft.shallows] }
}

function readWord(draft: Draft, name: string, value: string): void {
  switch (name) {
    case 'want':
      draft.wants.add(readId(value))
      break
    case 'have':
      draft.haves.add(readId(value))
      break
    case 'shallow':
      draft.shallows.add(readId(value))
      break
    case 'deepen':
      if (!/^\d{1,12}$/.test(value)) throw new AppError('invalid_input', '"deepen" needs a whole number.')
      draft.depth = Number(value) || null
      break
    case 'done':
      draft.isDone = true
      break
    default:
    // What else a client may say changes no answer: thin-pack, no-progress, include-tag, ofs-delta.
  }
}

function readId(text: string): ObjectId {
  if (!/^[0-9a-f]{40}$/.test(text)) throw new AppError('invalid_input', 'An object id must be 40 hexadecimal digits.')
  return text
}
