import type { Hono, Context as HonoContext } from 'hono'
import { AppError, toAppError } from '../../errors.ts'
import type { HttpEnv, MakeContext } from '../../http/call.ts'
import { HTTP_STATUS, toErrorBody } from '../../http/errors.ts'
import { makeEtag, matchesEtag } from '../../http/etag.ts'
import type { Route } from '../../http/route.ts'
import { type EmbedConfig, MAX_EMBED_QUERY } from '../../library/embed/config.ts'
import { listEmbedExamples } from '../../library/embed/examples.ts'
import { countNothing } from '../../library/usage.ts'
import { showEmbed } from '../../operations/embeds.ts'
import { callAnonymously } from '../anonymous-call.ts'
import { createRasteriser } from '../rasterise.ts'
import { ERROR_WORDS } from '../strings/errors.ts'
import { type CardContent, drawCard } from './card.ts'
import { findEmbeddedItem } from './item.ts'
import { describeLink } from './oembed.ts'
import { answerEmbed, type EmbedSettings } from './page.tsx'
import { readEmbedQuery } from './query.ts'

type Requested = HonoContext<HttpEnv>

/** Every route of embeds: each shows what stands in its address, what is saved for everybody with its id, or one public item. */
const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/embed', kind: 'embed', cost: 3, isOfPublicItem: true },
  { method: 'GET', path: '/embed/{ref}', kind: 'embed', cost: 3, isOfPublicItem: true },
  { method: 'GET', path: '/e/{id}', kind: 'embed', cost: 3, isOfPublicItem: true },
  { method: 'GET', path: '/embed.js', kind: 'embed', cost: 1, isOfPublicItem: true },
  { method: 'GET', path: '/api/embed/examples', kind: 'embed', cost: 1, isOfPublicItem: true },
  { method: 'GET', path: '/api/embed/image', kind: 'embed', cost: 3, isOfPublicItem: true },
  { method: 'GET', path: '/api/embed/image/{file}', kind: 'embed', cost: 20, isOfPublicItem: true },
  { method: 'GET', path: '/api/oembed', kind: 'embed', cost: 3, isOfPublicItem: true },
]

/** Adds what other people's pages frame and show. Its routes are given back. */
export function addEmbeds(http: Hono<HttpEnv>, makeContext: MakeContext, settings: EmbedSettings): readonly Route[] {
  const call = callAnonymously(makeContext, settings)
  const { words } = settings

  /** Answers in a frame even when there is nothing to show: an error page of the service would not be framed. */
  const inFrame = (show: (c: Requested) => Promise<Response>) => async (c: Requested) => {
    try {
      if (queryOf(c).length > MAX_EMBED_QUERY) throw new AppError('too_large', words.embed.tooLong)
      return await withEtag(c, await show(c))
    } catch (thrown) {
      const { code, message } = toAppError(thrown)
      if (code === 'internal') throw thrown
      const text = code === 'not_found' ? words.embed.notFound : message
      return await answerEmbed(settings, {}, { problem: { title: words.embed.notShown, text }, status: HTTP_STATUS[code] })
    }
  }

  const rasteriser = createRasteriser()
  /** A picture is fetched by services that show a link, again and again: it is no use of the item. */
  const callForPicture: typeof call = (operation, input) => call(operation, input, { count: countNothing })
  /** An item by id or slug, or a saved embed. */
  const findCard = async (ref: string, around: EmbedConfig): Promise<Omit<CardContent, 'name'>> => {
    const item = await findEmbeddedItem(callForPicture, ref).catch((thrown: unknown) => {
      if (toAppError(thrown).code !== 'not_found') throw thrown
      return null
    })
    if (item) {
      const { source, category, kind, parts } = item
      const count = kind === 'skill' ? words.fileCount(parts) : parts === 0 ? null : words.find.blanks(parts)
      const facts = [category, count].filter((fact) => fact !== null)
      return { config: { ...around, ...item.config }, title: source.title, author: source.author, facts }
    }
    const { config } = await call(showEmbed, { id: ref })
    return { config, title: null, author: null, facts: [] }
  }

  http.get(
    '/embed',
    inFrame(async (c) => {
      const { config, faults } = readEmbedQuery(new URLSearchParams(queryOf(c)))
      return await answerEmbed(settings, config, { faults })
    }),
  )
  http.get(
    '/embed/:ref',
    inFrame(async (c) => {
      const { config, faults } = readEmbedQuery(new URLSearchParams(queryOf(c)))
      const item = await findEmbeddedItem(call, c.req.param('ref') ?? '')
      return await answerEmbed(settings, { ...config, ...item.config }, { source: item.source, faults })
    }),
  )
  http.get(
    '/e/:id',
    inFrame(async (c) => {
      const { config } = await call(showEmbed, { id: c.req.param('id') ?? '' })
      return await answerEmbed(settings, config)
    }),
  )
  // Pages that frame an embed name this address for years; the one with the digest changes.
  http.get('/embed.js', async (c) => {
    const file = await settings.answerFile(settings.url('embed.js'), c.req.header('accept-encoding') ?? null)
    if (!file) throw new AppError('not_found', ERROR_WORDS.notHere)
    const headers = new Headers(file.headers)
    headers.set('Cache-Control', 'public, max-age=86400')
    return new Response(file.body, { headers })
  })
  http.get('/api/embed/image', (c) => {
    if (queryOf(c).length > MAX_EMBED_QUERY) throw new AppError('too_large', words.embed.tooLong)
    const { config } = readEmbedQuery(new URLSearchParams(queryOf(c)))
    return answerSvg(c, drawCard(words, { config, title: null, author: null, facts: [], name: settings.name }))
  })
  http.get('/api/embed/image/:file', async (c) => {
    const [, ref = '', form] = /^([0-9a-z-]{1,64})\.(svg|png)$/.exec(c.req.param('file') ?? '') ?? []
    if (ref === '' || queryOf(c).length > MAX_EMBED_QUERY) throw new AppError('not_found', ERROR_WORDS.noPicture)
    const content = await findCard(ref, readEmbedQuery(new URLSearchParams(form === 'svg' ? queryOf(c) : '')).config)
    const svg = drawCard(words, { ...content, name: settings.name })
    if (form === 'svg') return answerSvg(c, svg)
    // Of what the library keeps alone: anybody can write an address, and each would be a picture to make.
    if (content.title === null) throw new AppError('not_found', ERROR_WORDS.noPicture)
    const headers = { 'Content-Type': 'image/png', 'Content-Security-Policy': IMAGE_POLICY, ETag: makeEtag(svg) }
    if (matchesEtag(c.req.header('if-none-match'), headers.ETag)) return new Response(null, { status: 304, headers })
    return new Response(await rasteriser.toPng(svg, headers.ETag, c.get('call').caller), { headers })
  })
  http.get('/api/oembed', async (c) => {
    const query = new URL(c.req.url).searchParams
    const format = query.get('format') ?? 'json'
    if (format !== 'json') {
      // The status is oEmbed's own (section 2.3.3).
      const refused = toErrorBody(new AppError('invalid_input', ERROR_WORDS.onlyJson), c.get('call').requestId)
      return c.json(refused, 501, { 'Cache-Control': 'no-store' })
    }
    return c.json(await describeLink(call, settings, query))
  })
  http.get('/api/embed/examples', (c) => c.json(listEmbedExamples(settings.hasMcp, c.req.query('category'))))
  return ROUTES
}

/** A picture that is opened by itself runs nothing and loads nothing. */
const IMAGE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

function answerSvg(c: Requested, svg: string): Response {
  const headers = { 'Content-Type': 'image/svg+xml; charset=utf-8', 'Content-Security-Policy': IMAGE_POLICY, ETag: makeEtag(svg) }
  return matchesEtag(c.req.header('if-none-match'), headers.ETag)
    ? new Response(null, { status: 304, headers })
    : new Response(svg, { headers })
}

/** What stands behind the question mark, as it was sent. */
function queryOf(c: Requested): string {
  return new URL(c.req.url).search.slice(1)
}

/** A response to revalidate on each use: it follows edits of the item. */
async function withEtag(c: Requested, answer: Response): Promise<Response> {
  const html = await answer.text()
  const headers = new Headers(answer.headers)
  headers.set('Cache-Control', 'no-cache')
  headers.set('ETag', makeEtag(html))
  if (matchesEtag(c.req.header('if-none-match'), headers.get('ETag') ?? '')) return new Response(null, { status: 304, headers })
  return new Response(html, { status: answer.status, headers })
}
