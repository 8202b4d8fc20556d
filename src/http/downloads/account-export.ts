import type { Hono } from 'hono'
import { z } from 'zod'
import { EXPORT_NAMES } from '../../library/exported-items.ts'
import { fromFileContent } from '../../library/skill.ts'
import { createZipWriter } from '../../library/zip-writer.ts'
import type { Operation } from '../../operations/core/define-operation.ts'
import { invokeLocally } from '../../operations/core/invoke.ts'
import type { HttpEnv, MakeContext } from '../call.ts'
import type { Route } from '../route.ts'
import { downloadHeaders, type SendPieces } from './download.ts'

const partShape = z.object({
  lines: z.array(z.string()),
  skills: z.array(
    z.object({
      entry: z.looseObject({ folder: z.string() }),
      files: z.array(z.object({ filename: z.string(), content: z.string(), encoding: z.literal('base64').optional() })),
    }),
  ),
  next: z.number().nullable(),
})

const categoriesShape = z.object({
  categories: z.array(z.object({ slug: z.string(), name: z.string(), parent: z.string().nullable() })),
})

/** Everything a person owns as a zip, read and packed as it is sent: an exported library, and what is kept of the account. */
export function addAccountExportRoute(
  app: Hono<HttpEnv>,
  operations: readonly Operation[],
  makeContext: MakeContext,
  sendPieces: SendPieces,
): Route {
  app.get('/settings/data/export.zip', async (c) => {
    const invoke = invokeLocally(operations, () => makeContext(c.get('call').actor))
    // Asked for before anything is sent: who is not signed in is told so by a status.
    const { sessions: _, ...account } = await invoke('show_account', {})
    const { keys } = await invoke('list_keys', {})
    const { embeds } = await invoke('list_embeds', {})
    const { categories } = categoriesShape.parse(await invoke('list_categories', { all: true }))
    const pieces = pack((input) => invoke('export_own_items', input), { ...account, keys, embeds }, categories)
    return sendPieces(c.get('call').caller, pieces, downloadHeaders('application/zip', 'commonplace-export.zip'))
  })
  return { method: 'GET', path: '/settings/data/export.zip', kind: 'download', cost: 50 }
}

async function* parts(read: (input: unknown) => Promise<unknown>, collection: 'prompts' | 'skills') {
  for (let after: number | null = 0; after !== null; ) {
    const part: z.infer<typeof partShape> = partShape.parse(await read({ collection, after }))
    yield part
    after = part.next
  }
}

async function* pack(
  read: (input: unknown) => Promise<unknown>,
  account: unknown,
  categories: z.infer<typeof categoriesShape>['categories'],
): AsyncGenerator<Uint8Array> {
  const utf8 = new TextEncoder()
  const zip = createZipWriter()
  /** A file in pieces. */
  async function* file(filename: string, bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    for (const _ of zip.add(filename, bytes)) {
      yield* zip.take()
    }
  }
  yield* file('account.json', utf8.encode(`${JSON.stringify(account, null, 2)}\n`))
  yield* file(EXPORT_NAMES.categories, utf8.encode(`${JSON.stringify(categories, null, 2)}\n`))
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
        const { filename, bytes } = fromFileContent(one, '')
        yield* file(`${EXPORT_NAMES.skillsFolder}/${entry.folder}/${filename}`, bytes)
      }
    }
  }
  yield* file(EXPORT_NAMES.skillsIndex, utf8.encode(`${JSON.stringify(index, null, 2)}\n`))
  zip.end()
  yield* zip.take()
}
