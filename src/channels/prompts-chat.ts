import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { stringify } from 'yaml'
import { createRevisionCaches } from '../cache/answer-cache.ts'
import type { WalkPosition } from '../domain/items/item-access.ts'
import { slugifyTag } from '../domain/items/slug.ts'
import { seesAsStranger } from '../domain/items/visibility.ts'
import { countNothing } from '../domain/people/usage.ts'
import { readIdAndSlug } from '../domain/text/addresses.ts'
import { AppError } from '../errors.ts'
import type { Answer, AnswerHeaders } from '../exchange.ts'
import { makeEtag, matchesEtag, type SendPieces } from '../http/answers.ts'
import type { BoundRoute, Call } from '../http/route.ts'
import { listWholePrompts, walkWholePrompts } from '../operations/channels/shared-items.ts'
import type { CallOptions, Input, Output } from '../operations/core/procedure.ts'
import { showPrompt, writePromptFile } from '../operations/prompts/get-prompt.ts'
import { answerBytes, type Channel, JSON_TYPE } from './channel.ts'

/** The address of the service for clients of prompts.chat. */
const PREFIX = '/compat/prompts-chat'
/** Path of a collection, before what dumps its prompts alone. */
const COLLECTION = '/collections/{collected}'
const TEXT_TYPE = 'text/plain; charset=utf-8'
const CSV_TYPE = 'text/csv; charset=utf-8'
/** Prompts read at once, for a dump. */
const PAGE = 100
/** Dumps for anonymous readers kept in memory, in bytes: two of 10,000 prompts of 1.6 KB. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024
/** Category whose prompts the CSV file marks as for developers. */
const FOR_DEVELOPERS = 'coding'

type Whole = Output<typeof listWholePrompts>['prompts'][number]

/** The parts that the routes use beside the channel. */
export interface CompatParts {
  /** Of what anonymous readers see. */
  readonly readRevision: () => Promise<number>
  readonly sendPieces: SendPieces
  /** Most prompts in a dump; null for all. */
  readonly maxDumped: number | null
}

/**
 * The addresses and shapes of prompts.chat (github.com/f/prompts.chat), so that its clients read this library: below a prefix, and at the
 * root where nothing else has the address.
 */
export function promptsChatRoutes(channel: Channel, parts: CompatParts): BoundRoute[] {
  const route = { method: 'GET', kind: 'channel', cost: 5 } as const
  const sendDump = createDumper(channel, parts)
  const json = (call: Call, value: unknown) => answerBytes(call, encode(`${JSON.stringify(value)}\n`), JSON_TYPE)
  const list = async (call: Call, input: Input<typeof listWholePrompts>) => await channel.call(call)(listWholePrompts, input)
  const find = async (call: Call, ref: string, options?: CallOptions) =>
    await channel.call(call)(showPrompt, { id: readIdAndSlug(ref) }, options)
  return [
    ...['', PREFIX].flatMap((prefix): BoundRoute[] => [
      ...['', COLLECTION].flatMap((scope): BoundRoute[] => [
        { ...route, cost: 50, path: `${prefix}${scope}/prompts.json`, handle: (call) => sendDump(call, JSON_DUMP) },
        { ...route, cost: 50, path: `${prefix}${scope}/prompts.csv`, handle: (call) => sendDump(call, CSV_DUMP) },
      ]),
      {
        ...route,
        path: `${prefix}/prompts/{ref}.prompt.md`,
        handle: async (call) => answerText(call, toPromptMarkdown(await find(call, call.params['ref'] ?? ''))),
      },
      {
        ...route,
        path: `${prefix}/prompts/{ref}.prompt.yml`,
        handle: async (call) => answerText(call, writePromptFile('prompt.yml', await find(call, call.params['ref'] ?? '')).text),
      },
    ]),
    {
      ...route,
      path: `${PREFIX}/api/health`,
      handle: async () => {
        await parts.readRevision()
        const body = { status: 'healthy', timestamp: new Date().toISOString(), database: 'connected' }
        return { status: 200, headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-store' }, body: JSON.stringify(body) }
      },
    },
    {
      ...route,
      path: `${PREFIX}/api/prompts`,
      async handle(call) {
        const { prompts, ...page } = await list(call, toListInput(new URLSearchParams(call.exchange.search)))
        return json(call, { prompts: prompts.map((prompt) => toListed(prompt)), ...page })
      },
    },
    {
      ...route,
      path: `${PREFIX}/api/prompts/search`,
      async handle(call) {
        const query = new URLSearchParams(call.exchange.search)
        const { prompts } = await list(call, { q: query.get('q') ?? '', perPage: toNumber(query.get('limit'), 10) })
        return json(call, { prompts: prompts.map(({ id, title, slug, author }) => ({ id, title, slug, author: { username: author } })) })
      },
    },
    {
      ...route,
      path: `${PREFIX}/api/prompts/{ref}`,
      async handle(call) {
        const { category, categorySlug, tags, ...prompt } = await find(call, call.params['ref'] ?? '')
        const named = category === null ? null : { name: category, slug: categorySlug ?? '', parent: null }
        const slugs = tags.map((name) => ({ name, slug: slugifyTag(name) }))
        return json(call, toListed({ ...prompt, contributors: [], category: named, tags: slugs }))
      },
    },
    {
      ...route,
      path: `${PREFIX}/api/prompts/{ref}/raw`,
      handle: async (call) => answerText(call, (await find(call, call.params['ref'] ?? '')).content),
    },
    {
      ...route,
      kind: 'page',
      cost: 2,
      // Looked for after all others.
      path: '/{username}/{ref}',
      async handle(call) {
        const { username = '', ref = '' } = call.params
        const found = await find(call, ref, { count: countNothing }).catch(() => null)
        if (found?.author.toLowerCase() !== username.toLowerCase()) throw new AppError('not_found', 'Nothing found at this address.')
        return { status: 302, headers: { location: new URL(found.url).pathname, 'cache-control': 'no-store' }, body: null }
      },
    },
  ]
}

const utf8 = new TextEncoder()
const encode = (text: string): Uint8Array => utf8.encode(text)

function answerText(call: Call, text: string): Answer {
  return answerBytes(call, encode(text), TEXT_TYPE, {
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  })
}

/** Numbers out of range are refused by the operation, in its words. */
function toNumber(text: string | null, otherwise: number): number {
  return text === null || text === '' ? otherwise : Number(text)
}

function toListInput(query: URLSearchParams): Input<typeof listWholePrompts> {
  const sorts: Partial<Record<string, 'oldest' | 'votes'>> = { oldest: 'oldest', upvotes: 'votes' }
  return {
    q: query.get('q') ?? '',
    page: toNumber(query.get('page'), 1),
    perPage: toNumber(query.get('perPage'), 24),
    type: query.get('type') ?? undefined,
    category: query.get('category') ?? undefined,
    tag: query.get('tag') ? [query.get('tag') ?? ''] : undefined,
    sort: sorts[query.get('sort') ?? ''],
  } as Input<typeof listWholePrompts>
}

const toAuthor = (username: string) => ({ id: username, username, name: username, avatar: null, identifier: null, verified: false })
const toTag = ({ name, slug }: Whole['tags'][number]) => ({ id: slug, name, slug, color: '#808080' })

/** The fields that lists and dumps share. Views and comments are not counted here. */
function toCommon({ id, slug, title, description, content, type, votes, createdAt, updatedAt, contributors }: Whole) {
  return {
    id,
    title,
    slug,
    description,
    content,
    type,
    structuredFormat: type === 'STRUCTURED' ? (/^\s*[{[]/.test(content) ? 'JSON' : 'YAML') : null,
    mediaUrl: null,
    viewCount: 0,
    voteCount: votes,
    commentCount: 0,
    contributorCount: contributors.length,
    isFeatured: false,
    featuredAt: null,
    requiresMediaUpload: false,
    requiredMediaType: null,
    requiredMediaCount: null,
    createdAt,
    updatedAt,
  }
}

function toListed(prompt: Whole) {
  const { category, author, contributors, tags } = prompt
  return {
    ...toCommon(prompt),
    author: toAuthor(author),
    contributors: contributors.map(toAuthor),
    category: category && {
      id: category.slug,
      name: category.name,
      slug: category.slug,
      parent: category.parent && { id: category.parent.slug, ...category.parent },
    },
    tags: tags.map((tag) => ({ tag: toTag(tag) })),
  }
}

/** An entry of prompts.json. */
function toDumped(prompt: Whole) {
  const { category, author, contributors, tags } = prompt
  const { contributorCount: _, ...common } = toCommon(prompt)
  return {
    ...common,
    category: category && { id: category.slug, name: category.name, slug: category.slug, icon: null },
    author: toAuthor(author),
    contributors: contributors.map(toAuthor),
    tags: tags.map(toTag),
  }
}

/** A dump in pieces: before, each prompt, after. */
interface Dump {
  readonly type: string
  readonly order: 'newest' | 'oldest'
  readonly before: string
  entry(prompt: Whole, place: number): string
  after(count: number): string
}

const JSON_DUMP: Dump = {
  type: JSON_TYPE,
  order: 'newest',
  before: '{"prompts":[',
  entry: (prompt, place) => `${place === 0 ? '' : ','}\n${JSON.stringify(toDumped(prompt))}`,
  after: (count) => `\n],"count":${count}}\n`,
}

const CSV_DUMP: Dump = {
  type: CSV_TYPE,
  order: 'oldest',
  before: 'act,prompt,for_devs,type,contributor\n',
  entry({ title, content, category, type, author }) {
    const isForDevelopers = category !== null && [category.slug, category.parent?.slug].includes(FOR_DEVELOPERS)
    const kind = type === 'STRUCTURED' ? type : 'TEXT'
    return `${[title, content, isForDevelopers ? 'TRUE' : 'FALSE', kind, author].map(quote).join(',')}\n`
  },
  after: () => '',
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The collection that a request asks for. */
function scopeOf({ params }: Call): string[] | undefined {
  return params['collected'] === undefined ? undefined : [params['collected']]
}

/** A dump in pieces, and the ETag of its bytes. */
interface WholeDump {
  readonly pieces: readonly Uint8Array[]
  readonly etag: string
}

/** Sends dumps. Those of anonymous readers are all the same: one is made, and kept until the library changes. Those of a collection are made each time. */
function createDumper(channel: Channel, { readRevision, sendPieces, maxDumped }: CompatParts) {
  const caches = createRevisionCaches(readRevision)
  /** By type. One that is too large to be kept has no pieces. */
  const kept = caches.create<WholeDump>('dumps', MAX_KEPT_BYTES)
  const making = new Map<string, { readonly revision: number; readonly dump: Promise<WholeDump> }>()
  const limit = maxDumped ?? Number.POSITIVE_INFINITY

  /** Every prompt that the caller may see, or the most that a dump holds, in parts. */
  async function* make(call: Call, { order, before, entry, after }: Dump): AsyncGenerator<Uint8Array> {
    yield encode(before)
    const collections = scopeOf(call)
    let count = 0
    let position: WalkPosition | null = null
    do {
      const part = { order, collections, after: position, limit: PAGE }
      const found: Output<typeof walkWholePrompts> = await channel.call(call)(walkWholePrompts, part)
      const prompts = found.prompts.slice(0, limit - count)
      yield encode(prompts.map((prompt, place) => entry(prompt, count + place)).join(''))
      count += prompts.length
      position = found.next
    } while (position && count < limit)
    yield encode(after(count))
  }

  const makeWhole = async (call: Call, dump: Dump, revision: number): Promise<WholeDump> => {
    const pieces: Uint8Array[] = []
    const digest = createHash('sha256')
    let size = 0
    for await (const piece of make(call, dump)) {
      await nextTurn()
      size += piece.length
      if (size > MAX_KEPT_BYTES) break
      digest.update(piece)
      pieces.push(piece)
    }
    const isKept = size <= MAX_KEPT_BYTES
    const whole = isKept ? { pieces, etag: makeEtag(digest.digest('hex')) } : { pieces: [], etag: '' }
    if ((await caches.refresh()) === revision) kept.put(revision, dump.type, whole, isKept ? size : MAX_KEPT_BYTES)
    return whole
  }

  /** The dump for anonymous readers. Null when it is not kept, or is being made from an older state of the library. */
  const findWhole = async (call: Call, dump: Dump): Promise<WholeDump | null> => {
    const revision = await caches.refresh()
    let whole = kept.get(dump.type)
    if (!whole) {
      const running = making.get(dump.type)
      if (running && running.revision !== revision) return null
      const made = running?.dump ?? makeWhole(call, dump, revision).finally(() => making.delete(dump.type))
      making.set(dump.type, { revision, dump: made })
      whole = await made
    }
    return whole.pieces.length > 0 ? whole : null
  }

  return async (call: Call, dump: Dump): Promise<Answer> => {
    const collections = scopeOf(call)
    // A collection without prompts is not told from one that the caller may not see.
    if (collections && (await channel.call(call)(walkWholePrompts, { collections, limit: 1 })).prompts.length === 0)
      throw new AppError('not_found', 'No prompts found here.')
    const headers: AnswerHeaders = { 'content-type': dump.type, 'cache-control': 'public, max-age=60' }
    const whole = !collections && seesAsStranger(call.actor) ? await findWhole(call, dump) : null
    if (whole) {
      // Of the bytes: one of the library's state would tell when somebody saves something private.
      headers['etag'] = whole.etag
      if (matchesEtag(call.exchange.header('if-none-match'), whole.etag)) return { status: 304, headers, body: null }
      headers['content-length'] = String(whole.pieces.reduce((sum, { length }) => sum + length, 0))
    }
    const { body } = sendPieces(call.caller, whole?.pieces.values() ?? make(call, dump), {})
    return { status: 200, headers, body }
  }
}

/** The frontmatter that editors read, and the text. */
function toPromptMarkdown({ title, description, content }: { title: string; description: string | null; content: string }): string {
  const head = stringify({ name: title, ...(description === null ? {} : { description }) }, { lineWidth: 0 })
  return `---\n${head}---\n${content}`
}
