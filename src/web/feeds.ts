import { readFileSync } from 'node:fs'
import { AppError } from '../errors.ts'
import type { Answer } from '../exchange.ts'
import { answerWithEtag } from '../http/answers.ts'
import type { BoundRoute, Call, MakeContext } from '../http/route.ts'
import type { Output } from '../operations/core/procedure.ts'
import { listPrompts, listSkills } from '../operations/items/search-items.ts'
import { escapeXml } from './escape.ts'
import { callAnonymously } from './request.ts'
import { ENGLISH } from './strings/index.ts'
import { ERROR_WORDS } from './strings/messages.ts'

type Listed = Output<typeof listPrompts>['prompts'][number] | Output<typeof listSkills>['skills'][number]

/** Entries of a feed. */
const NEWEST = 50
/** Addresses of one sitemap: ten pages of a list, so that no request is much work. */
const PER_SITEMAP = 1000
const PER_LIST = 100
interface FeedSettings {
  readonly name: string
  readonly baseUrl: string
  readonly isForMembers: boolean
}

/** The feed, sitemap, robots.txt and icon, with public items only. */
export function feedRoutes(makeContext: MakeContext, settings: FeedSettings): BoundRoute[] {
  const { name, baseUrl, isForMembers } = settings
  const call = callAnonymously(makeContext, settings)

  const readFeed = async (request: Call): Promise<Answer> => {
    const author = new URLSearchParams(request.exchange.search).get('author')
    const input = { perPage: NEWEST, sort: 'newest', ...(author ? { author } : {}) } as const
    const [{ prompts }, { skills }] = await Promise.all([call(listPrompts, input), call(listSkills, input)])
    const items = [...prompts, ...skills].toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1)).slice(0, NEWEST)
    const [first] = items
    if (author && !first) throw new AppError('not_found', ERROR_WORDS.noPerson)
    const title = author && first ? ENGLISH.reading.feedOf(first.author) : ENGLISH.reading.feedTitle(name)
    const page = author && first ? `${baseUrl}/@${encodeURIComponent(first.author)}` : baseUrl
    const self = author && first ? `${baseUrl}/feed.xml?author=${encodeURIComponent(first.author)}` : `${baseUrl}/feed.xml`
    return toXml(request, 'application/rss+xml', writeFeed({ title, page, self, items }))
  }

  const readSitemap = async (request: Call): Promise<Answer> => {
    const [prompts, skills] = await Promise.all([call(listPrompts, { perPage: 1 }), call(listSkills, { perPage: 1 })])
    const parts = [
      ...Array.from({ length: Math.ceil(prompts.total / PER_SITEMAP) }, (_, index) => `prompts-${index + 1}`),
      ...Array.from({ length: Math.ceil(skills.total / PER_SITEMAP) }, (_, index) => `skills-${index + 1}`),
    ]
    const asked = new URLSearchParams(request.exchange.search).get('part')
    if (asked === null) {
      const entries = ['pages', ...parts].map((part) => `<sitemap><loc>${escapeXml(`${baseUrl}/sitemap.xml?part=${part}`)}</loc></sitemap>`)
      return toXml(request, 'application/xml', `<sitemapindex xmlns="${SITEMAP}">${entries.join('')}</sitemapindex>`)
    }
    if (asked === 'pages') {
      const urls = ['/', '/prompts', '/skills', '/docs'].map((path) => `<url><loc>${escapeXml(baseUrl + path)}</loc></url>`)
      return toXml(request, 'application/xml', `<urlset xmlns="${SITEMAP}">${urls.join('')}</urlset>`)
    }
    if (!parts.includes(asked)) throw new AppError('not_found', ERROR_WORDS.noSitemap)
    const [kind, number] = asked.split('-')
    const urls: string[] = []
    // Oldest first, so that what is new is added at the end and a part that is full stays as it is.
    for (let page = 1; page <= PER_SITEMAP / PER_LIST; page++) {
      const input = { perPage: PER_LIST, sort: 'oldest', page: (Number(number) - 1) * (PER_SITEMAP / PER_LIST) + page } as const
      const list = kind === 'prompts' ? await call(listPrompts, input) : await call(listSkills, input)
      for (const { url, updatedAt } of 'prompts' in list ? list.prompts : list.skills)
        urls.push(`<url><loc>${escapeXml(url)}</loc><lastmod>${updatedAt}</lastmod></url>`)
      if (list.page >= list.totalPages) break
    }
    return toXml(request, 'application/xml', `<urlset xmlns="${SITEMAP}">${urls.join('')}</urlset>`)
  }

  const robots = isForMembers
    ? 'User-agent: *\nDisallow: /\n'
    : `User-agent: *\nDisallow: /api/\nDisallow: /sign-in\nDisallow: /sign-up\n\nSitemap: ${baseUrl}/sitemap.xml\n`
  const icon = new Uint8Array(readFileSync(new URL('../../assets/web/favicon.ico', import.meta.url)))
  const iconHeaders = { 'content-type': 'image/x-icon', 'cache-control': 'public, max-age=86400' }
  const asset = { method: 'GET', kind: 'asset' } as const
  const entry = { ...asset, cost: 1, isEntry: true } as const
  return [
    { ...asset, path: '/feed.xml', cost: 5, handle: readFeed },
    { ...asset, path: '/sitemap.xml', cost: 10, handle: readSitemap },
    {
      ...entry,
      path: '/robots.txt',
      handle: () => ({ status: 200, headers: { 'content-type': 'text/plain; charset=UTF-8' }, body: robots }),
    },
    { ...entry, path: '/favicon.ico', handle: () => ({ status: 200, headers: { ...iconHeaders }, body: icon }) },
  ]
}

const SITEMAP = 'http://www.sitemaps.org/schemas/sitemap/0.9'

function writeFeed({ title, page, self, items }: { title: string; page: string; self: string; items: readonly Listed[] }): string {
  const newest = items[0]?.createdAt
  const entries = items.map((item) => {
    const text = item.description ?? ('derivedDescription' in item ? item.derivedDescription : undefined) ?? ''
    const categories = [item.category, ...item.tags].flatMap((name) => (name === null ? [] : [`<category>${escapeXml(name)}</category>`]))
    return `<item><title>${escapeXml(item.title)}</title><link>${escapeXml(item.url)}</link><guid isPermaLink="false">urn:uuid:${item.id}</guid><pubDate>${new Date(item.createdAt).toUTCString()}</pubDate><dc:creator>${escapeXml(item.author)}</dc:creator>${categories.join('')}<description>${escapeXml(escapeXml(text))}</description></item>`
  })
  return `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>${escapeXml(title)}</title><link>${escapeXml(page)}</link><description>${escapeXml(ENGLISH.lead)}</description><language>${ENGLISH.language}</language>${newest === undefined ? '' : `<lastBuildDate>${new Date(newest).toUTCString()}</lastBuildDate>`}<atom:link href="${escapeXml(self)}" rel="self" type="application/rss+xml"/>${entries.join('')}</channel></rss>`
}

function toXml({ exchange }: Call, type: string, body: string): Answer {
  return answerWithEtag(exchange, { 'content-type': `${type}; charset=utf-8` }, `<?xml version="1.0" encoding="UTF-8"?>\n${body}\n`)
}
