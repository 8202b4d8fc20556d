import { MAX_EMBED_QUERY } from '../../domain/embed/config.ts'
import { decodePart } from '../../domain/text/addresses.ts'
import { showControls } from '../../domain/text/controls.ts'
import { AppError, invalidInput } from '../../errors.ts'
import type { CallOperation } from '../../operations/core/invoke.ts'
import { showEmbed } from '../../operations/embeds.ts'
import { ERROR_WORDS } from '../strings/messages.ts'
import { type EmbedTarget, estimateHeight, toEmbedPaths, writeFrame } from './addresses.ts'
import { CARD_HEIGHT, CARD_WIDTH } from './card.ts'
import { findEmbeddedItem } from './item.ts'
import type { EmbedSettings } from './page.tsx'
import { readEmbedQuery } from './query.ts'

/** Width of a frame whose asker named none, in pixels. */
const USUAL_WIDTH = 680
const LONGEST_SIDE = 4_096

/**
 * The oEmbed response for an address of this service (oEmbed 1.0, type "rich").
 * @throws AppError `not_found` for an address of another service, or of an item not visible to everyone; `invalid_input`
 */
export async function describeLink(call: CallOperation, settings: EmbedSettings, query: URLSearchParams): Promise<Record<string, unknown>> {
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
