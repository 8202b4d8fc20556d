import { type EmbedConfig, listEmbedExamples, MAX_EMBED_QUERY } from '../../domain/embed/config.ts'
import { countNothing } from '../../domain/people/usage.ts'
import { decodePart } from '../../domain/text/addresses.ts'
import { showControls } from '../../domain/text/characters.ts'
import { AppError, invalidInput, toAppError } from '../../errors.ts'
import { type Answer, jsonAnswer } from '../../exchange.ts'
import { answerWithEtag, HTTP_STATUS, makeEtag, matchesEtag, toErrorBody } from '../../http/answers.ts'
import type { BoundRoute, Call, MakeContext } from '../../http/route.ts'
import type { CallOperation } from '../../operations/core/define-operation.ts'
import { showEmbed } from '../../operations/embeds.ts'
import { createRasteriser } from '../rasterise.ts'
import { callAnonymously } from '../request.ts'
import { ERROR_WORDS } from '../strings/messages.ts'
import { type EmbedTarget, estimateHeight, readEmbedQuery, toEmbedPaths, writeFrame } from './addresses.ts'
import { CARD_HEIGHT, CARD_WIDTH, type CardContent, drawCard } from './card.ts'
import { findEmbeddedItem, nullWhenMissing } from './fields.ts'
import { answerEmbed, type EmbedSettings } from './page.tsx'

/** Width of a frame whose asker named none, in pixels. */
const USUAL_WIDTH = 680
const LONGEST_SIDE = 4_096

/**
 * The oEmbed response for an address of this service (oEmbed 1.0, type "rich").
 * @throws AppError `not_found` for an address of another service, or of an item not visible to everyone; `invalid_input`
 */
async function describeLink(call: CallOperation, settings: EmbedSettings, query: URLSearchParams): Promise<Record<string, unknown>> {
  const { words, name, baseUrl } = settings
  const asked = query.get('url') ?? ''
  if (asked === '') throw invalidInput('url', ERROR_WORDS.urlRequired)
  const { target, title, author } = await findTarget(call, words.embed.title, asked, baseUrl)
  const paths = toEmbedPaths(target)
  if (!paths) throw new AppError('too_large', words.embed.tooLong)
  const [width, height] = [
    Math.min(USUAL_WIDTH, readSide(query, 'maxwidth')),
    Math.min(estimateHeight(target.config), readSide(query, 'maxheight')),
  ]
  return {
    version: '1.0',
    type: 'rich',
    title: showControls(title),
    ...(author === null ? {} : { author_name: showControls(author), author_url: `${baseUrl}/@${encodeURIComponent(author)}` }),
    provider_name: name,
    provider_url: baseUrl,
    cache_age: 3600,
    ...(target.kind === 'item'
      ? {
          thumbnail_url: `${baseUrl}/api/embed/image/${target.id}.png`,
          thumbnail_width: CARD_WIDTH,
          thumbnail_height: CARD_HEIGHT,
        }
      : {}),
    html: writeFrame(baseUrl + paths.page, title, height).replace('width="100%"', `width="${width}"`),
    width,
    height,
  }
}

/** The subject of an address of this service: the page of an item, or an embed. */
async function findTarget(
  call: CallOperation,
  untitled: string,
  asked: string,
  baseUrl: string,
): Promise<{ target: EmbedTarget; title: string; author: string | null }> {
  const url = URL.parse(asked)
  const missing = new AppError('not_found', ERROR_WORDS.notEmbeddable)
  if (!url || url.origin !== baseUrl || url.search.length > MAX_EMBED_QUERY) throw missing
  const [, first = '', second = '', ...more] = url.pathname.split('/')
  if (more.length > 0) throw missing
  const { config } = readEmbedQuery(url.searchParams)
  if (first === 'embed' && second === '') return { target: { kind: 'config', config }, title: untitled, author: null }
  if (second === '') throw missing
  if (first === 'e') {
    const stored = await call(showEmbed, { id: second })
    return { target: { kind: 'stored', id: stored.id, config: stored.config }, title: untitled, author: null }
  }
  if (first !== 'prompts' && first !== 'skills' && first !== 'embed') throw missing
  const item = await findEmbeddedItem(call, decodePart(second))
  if (first !== 'embed' && first !== `${item.kind}s`) throw missing
  const { prompt: _, ...around } = first === 'embed' ? config : {}
  return {
    target: { kind: 'item', id: item.id, config: { ...around, ...item.config }, around },
    title: item.source.title,
    author: item.source.author,
  }
}

/** @throws AppError `invalid_input` */
function readSide(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? ''
  if (text === '') return LONGEST_SIDE
  if (!/^[1-9]\d{0,5}$/.test(text)) throw invalidInput(name, ERROR_WORDS.notPixels(name))
  return Number(text)
}

/**
 * The routes that other people's pages frame and show. Each route shows what stands in its address, what is saved for everybody with its id, or one public
 * item.
 */
export function embedRoutes(makeContext: MakeContext, settings: EmbedSettings): BoundRoute[] {
  const call = callAnonymously(makeContext, settings)
  const { words } = settings

  /** Answers in a frame even when there is nothing to show: an error page of the service would not be framed. */
  const inFrame = (show: (asked: Call) => ReturnType<typeof answerEmbed>) => async (asked: Call) => {
    try {
      if (queryOf(asked).length > MAX_EMBED_QUERY) throw new AppError('too_large', words.embed.tooLong)
      const { status, headers, body } = await show(asked)
      // To revalidate on each use: it follows edits of the item.
      return answerWithEtag(asked.exchange, { ...headers, 'cache-control': 'no-cache' }, body, { status })
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
    const item = await findEmbeddedItem(callForPicture, ref).catch(nullWhenMissing)
    if (item) {
      const { source, category, kind, parts } = item
      const count = kind === 'skill' ? words.fileCount(parts) : parts === 0 ? null : words.find.blanks(parts)
      const facts = [category, count].filter((fact) => fact !== null)
      return { config: { ...around, ...item.config }, title: source.title, author: source.author, facts }
    }
    const { config } = await call(showEmbed, { id: ref })
    return { config, title: null, author: null, facts: [] }
  }

  const route = { method: 'GET', kind: 'embed', cost: 3, isOfPublicItem: true } as const
  return [
    {
      ...route,
      path: '/embed',
      handle: inFrame(async (asked) => {
        const { config, faults } = readEmbedQuery(new URLSearchParams(queryOf(asked)))
        return await answerEmbed(settings, config, { faults })
      }),
    },
    {
      ...route,
      path: '/embed/{ref}',
      handle: inFrame(async (asked) => {
        const { config, faults } = readEmbedQuery(new URLSearchParams(queryOf(asked)))
        const item = await findEmbeddedItem(call, asked.params['ref'] ?? '')
        return await answerEmbed(settings, { ...config, ...item.config }, { source: item.source, faults })
      }),
    },
    {
      ...route,
      path: '/e/{id}',
      handle: inFrame(async (asked) => {
        const { config } = await call(showEmbed, { id: asked.params['id'] ?? '' })
        return await answerEmbed(settings, config)
      }),
    },
    // Pages that frame an embed name this address for years; the one with the digest changes.
    {
      ...route,
      path: '/embed.js',
      cost: 1,
      async handle({ exchange }) {
        const file = await settings.answerFile(exchange, settings.url('embed.js'))
        if (!file) throw new AppError('not_found', ERROR_WORDS.notHere)
        return { ...file, headers: { ...file.headers, 'cache-control': 'public, max-age=86400' } }
      },
    },
    {
      ...route,
      path: '/api/embed/image',
      handle(asked) {
        if (queryOf(asked).length > MAX_EMBED_QUERY) throw new AppError('too_large', words.embed.tooLong)
        const { config } = readEmbedQuery(new URLSearchParams(queryOf(asked)))
        return answerSvg(asked, drawCard(words, { config, title: null, author: null, facts: [], name: settings.name }))
      },
    },
    {
      ...route,
      path: '/api/embed/image/{file}',
      cost: 20,
      async handle(asked) {
        const { exchange, params, caller } = asked
        const [, ref = '', form] = /^([0-9a-z-]{1,64})\.(svg|png)$/.exec(params['file'] ?? '') ?? []
        if (ref === '' || queryOf(asked).length > MAX_EMBED_QUERY) throw new AppError('not_found', ERROR_WORDS.noPicture)
        const content = await findCard(ref, readEmbedQuery(new URLSearchParams(form === 'svg' ? queryOf(asked) : '')).config)
        const svg = drawCard(words, { ...content, name: settings.name })
        if (form === 'svg') return answerSvg(asked, svg)
        // Of what the library keeps alone: anybody can write an address, and each would be a picture to make.
        if (content.title === null) throw new AppError('not_found', ERROR_WORDS.noPicture)
        const etag = makeEtag(svg)
        const headers = { 'content-type': 'image/png', 'content-security-policy': IMAGE_POLICY, etag }
        if (matchesEtag(exchange.header('if-none-match'), etag)) return { status: 304, headers, body: null }
        return { status: 200, headers, body: await rasteriser.toPng(svg, etag, caller) }
      },
    },
    {
      ...route,
      path: '/api/oembed',
      async handle(asked) {
        const query = new URLSearchParams(queryOf(asked))
        if ((query.get('format') ?? 'json') === 'json') return jsonAnswer(await describeLink(call, settings, query))
        // The status is oEmbed's own (section 2.3.3).
        const refused = toErrorBody(new AppError('invalid_input', ERROR_WORDS.onlyJson), asked.requestId)
        return jsonAnswer(refused, 501, { 'cache-control': 'no-store' })
      },
    },
    {
      ...route,
      path: '/api/embed/examples',
      cost: 1,
      handle(asked) {
        const category = new URLSearchParams(queryOf(asked)).get('category') ?? undefined
        return jsonAnswer(listEmbedExamples(settings.hasMcp, category))
      },
    },
  ]
}

/** A picture that is opened by itself runs nothing and loads nothing. */
const IMAGE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

function answerSvg({ exchange }: Call, svg: string): Answer {
  return answerWithEtag(exchange, { 'content-type': 'image/svg+xml; charset=utf-8', 'content-security-policy': IMAGE_POLICY }, svg)
}

/** The query of an address, as it was sent. */
function queryOf({ exchange }: Call): string {
  return exchange.search.slice(1)
}
