import { AppError } from '../../errors.ts'
import type { FetchRequest } from './fetch.ts'
import type { ObjectId } from './objects.ts'
import type { PktLine } from './pkt-line.ts'

/** Most wants, haves and shallow commits of one request. */
const MAX_IDS = 5_000

/** Ways to deepen that no answer is made for; Git 1.9 and newer do without them. */
const UNSUPPORTED: ReadonlySet<string> = new Set(['deepen-not', 'deepen-relative'])

/** A request while it is read. */
interface Draft {
  readonly wants: Set<ObjectId>
  readonly haves: Set<ObjectId>
  readonly shallows: Set<ObjectId>
  isDone: boolean
  depth: number | null
  since: number | null
}

/** A fetch of version 2, from its lines. @throws AppError `invalid_input` */
export function readFetch(lines: readonly PktLine[]): FetchRequest {
  const start = lines.findIndex(({ kind }) => kind === 'delimiter')
  const rest = start < 0 ? [] : lines.slice(start + 1)
  return { ...readWords(rest, (name) => ['filter', 'packfile-uris', 'want-ref'].includes(name)), waitsForDone: false, namesEach: true }
}

/** A fetch of the versions before: the first want carries the client's capabilities. @throws AppError `invalid_input` */
export function readFirstVersionFetch(lines: readonly PktLine[]): FetchRequest {
  const capabilities = lines.find((line) => line.kind === 'data' && line.text.startsWith('want '))
  const words = capabilities?.kind === 'data' ? capabilities.text.split(' ').slice(2) : []
  if (capabilities && !words.includes('side-band-64k')) {
    throw new AppError('invalid_input', 'Git clients must understand side-band-64k; use Git 1.6 or newer.')
  }
  const plain = lines.map((line): PktLine => {
    return line === capabilities && line.kind === 'data' ? { kind: 'data', text: line.text.split(' ').slice(0, 2).join(' ') } : line
  })
  const request = readWords(plain, (name) => name === 'filter')
  if (words.includes('deepen-relative')) throw notSupported('deepen-relative')
  return { ...request, waitsForDone: true, namesEach: words.includes('multi_ack_detailed') }
}

function readWords(lines: readonly PktLine[], isRefused: (name: string) => boolean): Omit<FetchRequest, 'waitsForDone' | 'namesEach'> {
  const draft: Draft = {
    wants: new Set(),
    haves: new Set(),
    shallows: new Set(),
    isDone: false,
    depth: null,
    since: null,
  }
  for (const line of lines) {
    if (line.kind !== 'data') continue
    const [name = '', value = ''] = line.text.split(' ', 2)
    if (isRefused(name) || UNSUPPORTED.has(name)) throw notSupported(name)
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
      draft.depth = readNumber(name, value) || null
      break
    case 'deepen-since':
      draft.since = readNumber(name, value)
      break
    case 'done':
      draft.isDone = true
      break
    default:
    // What else a client may say changes no answer: thin-pack, no-progress, include-tag, ofs-delta.
  }
}

function notSupported(name: string): AppError {
  return new AppError('invalid_input', `"${name}" is not supported here. Fetch with --depth or --unshallow.`)
}

function readId(text: string): ObjectId {
  if (!/^[0-9a-f]{40}$/.test(text)) throw new AppError('invalid_input', 'An object id must be 40 hexadecimal digits.')
  return text
}

function readNumber(name: string, text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new AppError('invalid_input', `"${name}" needs a whole number.`)
  return Number(text)
}
