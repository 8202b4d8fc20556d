import type { Hono } from 'hono'
import { EXPORT_NAMES } from '../../library/exported-items.ts'
import { fromFileContent } from '../../library/skill.ts'
import { createZipWriter } from '../../library/zip-writer.ts'
import { exportOwnItems, showAccount } from '../../operations/account/account.ts'
import { listKeys } from '../../operations/account/keys.ts'
import type { Output } from '../../operations/core/define-operation.ts'
import { callLocally } from '../../operations/core/invoke.ts'
import { listEmbeds } from '../../operations/embeds.ts'
import { listFavourites } from '../../operations/items/favourites.ts'
import { listCategories } from '../../operations/items/list-categories.ts'
import type { HttpEnv, MakeContext } from '../call.ts'
import type { Route } from '../route.ts'
import { downloadHeaders, type SendPieces } from './download.ts'

type Part = Output<typeof exportOwnItems>
/** Reads the next part of a person's items. */
type ReadPart = (input: { collection: 'prompts' | 'skills'; after: number }) => Promise<Part>

interface FavouritesPage {
  readonly collection: 'prompts' | 'skills'
  readonly page: number
}
type ReadFavourites = (input: FavouritesPage) => Promise<Output<typeof listFavourites>>

/** Everything a person owns as a zip, read and packed as it is sent: an exported library and the account data. */
export function addAccountExportRoute(app: Hono<HttpEnv>, makeContext: MakeContext, sendPieces: SendPieces): Route {
  app.get('/settings/data/export.zip', async (c) => {
    const call = callLocally(() => makeContext(c.get('call').actor))
    // Checked before the response starts, so that anonymous callers get an error status.
    const { sessions: _, ...account } = await call(showAccount, {})
    const { keys } = await call(listKeys, {})
    const { embeds } = await call(listEmbeds, {})
    const { categories } = await call(listCategories, { all: true })
    const favourites = (input: FavouritesPage) => call(listFavourites, { ...input, perPage: 100 })
    const pieces = pack((input) => call(exportOwnItems, input), favourites, { ...account, keys, embeds }, categories)
    return sendPieces(c.get('call').caller, pieces, downloadHeaders('application/zip', 'commonplace-export.zip'))
  })
  return { method: 'GET', path: '/settings/data/export.zip', kind: 'download', cost: 50 }
}

/** Favourites as an export names them: by address, since their texts are others'. */
async function readFavourites(read: ReadFavourites, collection: 'prompts' | 'skills') {
  const all: { id: string; title: string; url: string }[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const found = await read({ collection, page })
    all.push(...[...found.prompts, ...found.skills].map(({ id, title, url }) => ({ id, title, url })))
    pages = found.totalPages
  }
  return all
}

async function* parts(read: ReadPart, collection: 'prompts' | 'skills') {
  for (let after: number | null = 0; after !== null; ) {
    const part: Part = await read({ collection, after })
    yield part
    after = part.next
  }
}

async function* pack(
  read: ReadPart,
  favourites: ReadFavourites,
  account: unknown,
  categories: Output<typeof listCategories>['categories'],
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
  const marked = { prompts: await readFavourites(favourites, 'prompts'), skills: await readFavourites(favourites, 'skills') }
  yield* file('favourites.json', utf8.encode(`${JSON.stringify(marked, null, 2)}\n`))
  const tree = categories.map(({ slug, name, parent }) => ({ slug, name, parent }))
  yield* file(EXPORT_NAMES.categories, utf8.encode(`${JSON.stringify(tree, null, 2)}\n`))
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
