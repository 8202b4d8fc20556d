import { z } from 'zod'
import { EXPORT_NAMES, writePromptMarkdown } from '../domain/service/transfer.ts'
import { imageTypeOf } from '../domain/skills/filename.ts'
import { fromFileContent, type SkillFile } from '../domain/skills/skill.ts'
import { createZipWriter, writeSkillArchive } from '../domain/skills/skill-archive.ts'
import { AppError } from '../errors.ts'
import type { Answer } from '../exchange.ts'
import { exportOwnItems, showAccount, showFormDraft } from '../operations/account/account.ts'
import { listKeys } from '../operations/account/keys.ts'
import { listAuditEvents } from '../operations/admin/administration.ts'
import { type CallOperation, callLocally } from '../operations/core/define-operation.ts'
import type { Output } from '../operations/core/procedure.ts'
import { listEmbeds } from '../operations/embeds.ts'
import { listCategories } from '../operations/items/list-categories.ts'
import { listFavourites } from '../operations/items/marks.ts'
import { FORMAT_NAMES, getPrompt, showPrompt, writePromptFile } from '../operations/prompts/get-prompt.ts'
import { getSkill, getSkillFile } from '../operations/skills/get-skill.ts'
import { downloadHeaders, type SendPieces } from './answers.ts'
import type { BoundRoute, Call, MakeContext } from './route.ts'

/** Events of the audit log read at once. */
const EVENTS = 500
const TEXT = 'text/plain; charset=utf-8'
const EVENT_FILTERS = ['username', 'action', 'since', 'target']

const collection = z.enum(['prompts', 'skills'])
/** The selection that the page of one's own items keeps for this download, since an address cannot hold hundreds of ids. */
const selection = z.object({ collection, ids: z.array(z.string()) })

/**
 * Routes that answer bytes instead of JSON: below /api for programs with their keys, below /download for signed-in people and their private items,
 * and exports on pages. Each checks the caller before its answer begins, so that who may not have it gets an error's status.
 */
export function downloadRoutes(contextFor: (surface: 'rest' | 'download') => MakeContext, sendPieces: SendPieces): BoundRoute[] {
  const route = { method: 'GET', kind: 'download', cost: 50 } as const
  const callFor = ({ actor }: Call) => callLocally(() => contextFor('rest')(actor))
  return [
    ...rawRoutes('/api', contextFor('rest'), sendPieces),
    ...rawRoutes('/download', contextFor('download'), sendPieces),
    // Everything a person owns as a zip, read and packed as it is sent: an exported library and the account data.
    {
      ...route,
      path: '/settings/data/export.zip',
      async handle(request) {
        const call = callFor(request)
        const { sessions: _, ...account } = await call(showAccount, {})
        const { keys } = await call(listKeys, {})
        const { embeds } = await call(listEmbeds, {})
        const { categories } = await call(listCategories, { all: true })
        const pieces = packItems(
          (input) => call(exportOwnItems, input),
          categories,
          async function* () {
            yield ['account.json', { ...account, keys, embeds }]
            yield ['favourites.json', await readFavourites(call)]
          },
        )
        return sendPieces(request.caller, pieces, downloadHeaders('application/zip', 'commonplace-export.zip'))
      },
    },
    // Some of a person's items as an exported library.
    {
      ...route,
      path: '/library/export.zip',
      async handle(request) {
        const call = callFor(request)
        const { body } = await call(showFormDraft, { kind: 'bulk', id: queryOf(request).get('selection') ?? '' })
        const chosen = selection.safeParse(JSON.parse(body ?? 'null'))
        if (!chosen.success) throw new AppError('not_found', 'This selection has expired. Select the items again.')
        const { categories } = await call(listCategories, { all: true })
        const { ids } = chosen.data
        const read: ReadPart = (input) => call(exportOwnItems, { ...input, ids: input.collection === chosen.data.collection ? ids : [] })
        const pieces = packItems(read, categories, async function* () {})
        return sendPieces(request.caller, pieces, downloadHeaders('application/zip', `commonplace-${chosen.data.collection}.zip`))
      },
    },
    // The audit log as administrators see it, a line of JSON for each event, narrowed as the page that links here is.
    {
      ...route,
      path: '/admin/activity/export.jsonl',
      async handle(request) {
        const call = callFor(request)
        const query = queryOf(request)
        const filters = Object.fromEntries(EVENT_FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])))
        const read = async (cursor?: string) => await call(listAuditEvents, { ...filters, cursor, limit: EVENTS })
        const first = await read()
        return sendPieces(request.caller, writeEvents(first, read), downloadHeaders('application/jsonl', 'commonplace-activity.jsonl'))
      },
    },
  ]
}

/** A skill's file or all of them, and a prompt's text: as it is, with its defaults, or as a file of this or another tool. */
function rawRoutes(prefix: string, makeContext: MakeContext, sendPieces: SendPieces): BoundRoute[] {
  const route = { method: 'GET', kind: 'download', cost: 2 } as const
  const callFor = ({ actor }: Call) => callLocally(() => makeContext(actor))
  const readPrompt = (call: Call) => callFor(call)(showPrompt, { id: call.params['id'] ?? '', ...readAsked(call) })
  const routes: BoundRoute[] = [
    {
      ...route,
      path: `${prefix}/skills/{skillId}/files/{filename}`,
      async handle(call) {
        const { skillId = '', filename = '' } = call.params
        const file = await callFor(call)(getSkillFile, { skillId, filename, ...readAsked(call) })
        const bytes = Buffer.from(file.content, file.encoding ?? 'utf8')
        // Pages show a picture of a skill in the text that names it.
        const type = file.encoding === undefined ? TEXT : (imageTypeOf(filename) ?? 'application/octet-stream')
        return answerFile(bytes, type, filename.split('/').at(-1) ?? filename)
      },
    },
    {
      ...route,
      path: `${prefix}/prompts/{id}/raw`,
      async handle(call) {
        const prompt = await readPrompt(call)
        return answerFile(prompt.content, TEXT, `${prompt.slug}.txt`)
      },
    },
    {
      ...route,
      path: `${prefix}/prompts/{id}/prompt.md`,
      async handle(call) {
        const prompt = await readPrompt(call)
        return answerFile(writePromptMarkdown(prompt), TEXT, `${prompt.slug}.prompt.md`)
      },
    },
    ...FORMAT_NAMES.map(
      (format): BoundRoute => ({
        ...route,
        path: `${prefix}/prompts/{id}/${format}`,
        async handle(call) {
          const { text, filename } = writePromptFile(format, await readPrompt(call))
          return answerFile(text, TEXT, filename)
        },
      }),
    ),
    // Packed as it is sent: each piece is a few milliseconds' work, and other requests come in between.
    {
      ...route,
      cost: 20,
      path: `${prefix}/skills/{skillId}/zip`,
      async handle(call) {
        const skill = await callFor(call)(getSkill, { id: call.params['skillId'] ?? '', ...readAsked(call) })
        const files = skill.files.map((file) => fromFileContent(file, ''))
        return sendPieces(call.caller, writeSkillArchive(files, skill.slug), downloadHeaders('application/zip', `${skill.slug}.zip`))
      },
    },
  ]
  if (prefix === '/api') return routes
  // What lists on the pages copy. Programs fill in a prompt with get_prompt.
  const filled: BoundRoute = {
    ...route,
    path: `${prefix}/prompts/{id}/filled`,
    async handle(call) {
      const prompt = await callFor(call)(getPrompt, { id: call.params['id'] ?? '', variables: {}, ...readAsked(call) })
      return answerFile(prompt.content, TEXT, `${prompt.slug}.txt`)
    },
  }
  return [...routes, filled]
}

/** The version that the address asks for. @throws AppError `invalid_input` */
function readAsked(call: Call): { label?: string; version?: number; bucket?: string } {
  const query = queryOf(call)
  const [label, version, bucket] = [query.get('label'), query.get('version'), query.get('bucket')]
  return {
    ...(label ? { label } : {}),
    ...(version ? { version: Number(version) } : {}),
    ...(bucket ? { bucket } : {}),
  }
}

function queryOf({ exchange }: Call): URLSearchParams {
  return new URLSearchParams(exchange.search)
}

function answerFile(body: string | Uint8Array, type: string, filename: string): Answer {
  return { status: 200, headers: downloadHeaders(type, filename), body }
}

/** Favourites by address: their texts are others'. */
async function readFavourites(call: CallOperation) {
  const all: Output<typeof listFavourites>['items'] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const found = await call(listFavourites, { page, perPage: 100 })
    all.push(...found.items)
    pages = found.totalPages
  }
  return all
}

type Events = Output<typeof listAuditEvents>

async function* writeEvents(first: Events, read: (cursor: string) => Promise<Events>): AsyncGenerator<Uint8Array> {
  const utf8 = new TextEncoder()
  for (let page = first; ; page = await read(page.nextCursor)) {
    yield utf8.encode(page.events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    if (page.nextCursor === null) return
  }
}

type Part = Output<typeof exportOwnItems>
/** Reads the next part of a person's items. */
type ReadPart = (input: { collection: 'prompts' | 'skills'; after: number }) => Promise<Part>

async function* parts(read: ReadPart, collection: 'prompts' | 'skills') {
  for (let after: number | null = 0; after !== null; ) {
    const part: Part = await read({ collection, after })
    yield part
    after = part.next
  }
}

/** Packs items as an exported library, with other files before them, as they are read. */
async function* packItems(
  read: ReadPart,
  categories: Output<typeof listCategories>['categories'],
  others: () => AsyncIterable<readonly [name: string, content: unknown]>,
): AsyncGenerator<Uint8Array> {
  const utf8 = new TextEncoder()
  const zip = createZipWriter()
  /** A file in pieces. */
  async function* add(file: SkillFile): AsyncGenerator<Uint8Array> {
    for (const _ of zip.add(file)) {
      yield* zip.take()
    }
  }
  const json = (name: string, content: unknown) => add({ filename: name, bytes: utf8.encode(`${JSON.stringify(content, null, 2)}\n`) })
  for await (const [name, content] of others()) yield* json(name, content)
  const tree = categories.map(({ slug, name, parent }) => ({ slug, name, parent }))
  yield* json(EXPORT_NAMES.categories, tree)
  const prompts = zip.open(EXPORT_NAMES.prompts)
  for await (const { lines } of parts(read, 'prompts')) {
    prompts.push(utf8.encode(lines.map((line) => `${line}\n`).join('')), false)
    yield* zip.take()
  }
  prompts.push(new Uint8Array(0), true)
  const index: unknown[] = []
  for await (const { skills } of parts(read, 'skills')) {
    for (const { entry, files } of skills) {
      index.push(entry)
      for (const one of files) {
        const file = fromFileContent(one, '')
        yield* add({ ...file, filename: `${EXPORT_NAMES.skillsFolder}/${entry.folder}/${file.filename}` })
      }
    }
  }
  yield* json(EXPORT_NAMES.skillsIndex, index)
  zip.end()
  yield* zip.take()
}
