import { z } from 'zod'
import { callMcp, callTool, get, HTML_HEADERS, JSON_HEADERS, type Library, type MeasuredRequest } from './asks.ts'
import { type Ask, saysError } from './drive.ts'
import { otherForms, whileSaving } from './other-forms.ts'

/** How many different requests of one kind are made, at most. */
const VARIETY = 256

const mcpPrompts = z.object({ result: z.object({ prompts: z.array(z.unknown()), nextCursor: z.string().optional() }) })
const mcpTool = z.object({ result: z.object({ content: z.array(z.object({ text: z.string() })) }) })

/** Goes through the whole list of prompts, page by page, as a client does. */
async function walkPrompts({ url }: Library): Promise<Ask[]> {
  const asks: Ask[] = []
  for (let cursor: string | undefined; asks.length < VARIETY; ) {
    const ask = callMcp(asks.length + 1, 'prompts/list', cursor === undefined ? {} : { cursor })
    asks.push(ask)
    const answer = await fetch(url + ask.path, { method: ask.method, headers: ask.headers, body: ask.body ?? null })
    cursor = mcpPrompts.parse(await answer.json()).result.nextCursor
    if (cursor === undefined) break
  }
  // The last page is a part of one.
  return asks.length > 1 ? asks.slice(0, -1) : asks
}

/** The prompt named by id and by slug in turn. */
function nameOf(prompt: Library['prompts'][number], place: number): string {
  return place % 2 === 0 ? prompt.id : prompt.slug
}

const hasResult = (body: string) => body.includes('"result":{')
const isPage = (body: string) => body.startsWith('<!doctype html>') && body.endsWith('</html>')

/** Each request in its plain form. */
export const PLAIN: readonly MeasuredRequest[] = [
  {
    name: 'initialize',
    budget: 2,
    makeAsks: () =>
      Array.from({ length: VARIETY }, (_, id) =>
        callMcp(id, 'initialize', {
          protocolVersion: id % 2 === 0 ? '2025-06-18' : '2025-11-25',
          capabilities: {},
          clientInfo: { name: `client-${id}`, version: '1.0.0' },
        }),
      ),
    isAnswer: (body) => body.includes('"protocolVersion":"2025-'),
  },
  { name: 'ping', budget: 2, makeAsks: () => Array.from({ length: VARIETY }, (_, id) => callMcp(id, 'ping')), isAnswer: hasResult },
  {
    name: 'tools/list',
    budget: 2,
    makeAsks: () => Array.from({ length: VARIETY }, (_, id) => callMcp(id, 'tools/list')),
    isAnswer: (body) => body.includes('"name":"search_prompts"'),
  },
  {
    name: 'search_prompts (10 full prompts)',
    budget: 8,
    makeAsks: ({ queries }) => queries.slice(0, VARIETY).map((query, id) => callTool(id, 'search_prompts', { query, limit: 10 })),
    isAnswer(body) {
      const text = mcpTool.parse(JSON.parse(body)).result.content[0]?.text ?? ''
      return z.object({ count: z.literal(10), prompts: z.array(z.object({ content: z.string() })).length(10) }).safeParse(JSON.parse(text))
        .success
    },
  },
  {
    name: 'get_prompt',
    budget: 3,
    isLookUp: true,
    makeAsks: ({ prompts }) => prompts.slice(0, VARIETY).map((prompt, id) => callTool(id, 'get_prompt', { id: nameOf(prompt, id) })),
    isAnswer: (body) => body.includes('"structuredContent":{"id":'),
  },
  {
    name: 'prompts/list (a page)',
    budget: 6,
    makeAsks: walkPrompts,
    isAnswer: (body) => mcpPrompts.parse(JSON.parse(body)).result.prompts.length > 0,
  },
  {
    name: 'prompts/get',
    budget: 3,
    isLookUp: true,
    makeAsks: ({ prompts }) => prompts.slice(0, VARIETY).map(({ slug }, id) => callMcp(id, 'prompts/get', { name: slug })),
    isAnswer: (body) => body.includes('"messages":[{'),
  },
  {
    name: 'GET /api/prompts?q=',
    makeAsks: ({ queries }) => queries.slice(0, VARIETY).map((query) => get(`/api/prompts?q=${encodeURIComponent(query)}`)),
    isAnswer: (body) => body.startsWith('{"prompts":[{'),
  },
  {
    name: 'GET /api/prompts (a page)',
    makeAsks: ({ prompts }) =>
      Array.from({ length: Math.max(1, Math.min(VARIETY, Math.floor(prompts.length / 20))) }, (_, place) =>
        get(`/api/prompts?perPage=20&page=${place + 1}`),
      ),
    isAnswer: (body) => body.startsWith('{"prompts":[{'),
  },
  {
    name: 'GET /api/prompts/{id}',
    budget: 3,
    isLookUp: true,
    makeAsks: ({ prompts }) => prompts.slice(0, VARIETY).map((prompt, place) => get(`/api/prompts/${nameOf(prompt, place)}`)),
    isAnswer: (body) => body.startsWith('{"id":'),
  },
  {
    name: 'POST /api/improve-prompt',
    makeAsks: ({ key, prompts }) =>
      prompts.slice(0, VARIETY).map(({ title }) => ({
        method: 'POST',
        path: '/api/improve-prompt',
        headers: { ...JSON_HEADERS, 'x-api-key': key },
        body: JSON.stringify({ prompt: `Write about this: ${title}` }),
      })),
    isAnswer: (body) => body.startsWith('{"original":') && body.includes('"model":"commonplace/offline"'),
  },
  { name: 'home page', makeAsks: () => [get('/', HTML_HEADERS)], isAnswer: isPage },
  {
    name: 'prompt page',
    makeAsks: ({ prompts }) => prompts.slice(0, VARIETY).map(({ slug }) => get(`/prompts/${slug}`, HTML_HEADERS)),
    isAnswer: isPage,
  },
  {
    name: 'browse page (24 prompts)',
    budget: 15,
    // One prompt short of 24 on a page would be the last.
    makeAsks: ({ prompts }) =>
      Array.from({ length: Math.max(1, Math.min(VARIETY, Math.floor(prompts.length / 24))) }, (_, place) =>
        get(place === 0 ? '/prompts' : `/prompts?page=${place + 1}`, HTML_HEADERS),
      ),
    isAnswer: isPage,
  },
  {
    name: 'search page (24 prompts)',
    makeAsks: ({ queries }) => queries.slice(0, VARIETY).map((query) => get(`/prompts?q=${encodeURIComponent(query)}`, HTML_HEADERS)),
    isAnswer: isPage,
  },
  {
    name: 'embed',
    makeAsks: ({ prompts }) => prompts.slice(0, VARIETY).map(({ slug }) => get(`/embed/${slug}`, HTML_HEADERS)),
    isAnswer: isPage,
  },
]

/** Everything that is measured: the plain forms, those of other clients right after them, and last what goes on while somebody saves. */
export const MEASURED: readonly MeasuredRequest[] = [
  ...PLAIN.flatMap((plain) => [plain, ...otherForms(plain)]),
  ...PLAIN.flatMap(whileSaving),
]

const listed = z.object({
  totalPages: z.number(),
  prompts: z.array(z.object({ id: z.string(), slug: z.string(), title: z.string() })),
})

/** Prompts from all over the library, in an order that has nothing to do with where they are kept. */
export async function samplePrompts(url: string, random: () => number): Promise<Library['prompts']> {
  const read = async (page: number) => listed.parse(await (await fetch(`${url}/api/prompts?perPage=100&page=${page}`)).json())
  const { totalPages } = await read(1)
  const pages = Array.from({ length: totalPages }, (_, page) => page + 1)
  const chosen = pages.length <= 20 ? pages : Array.from({ length: 20 }, (_, part) => Math.floor(((part + random()) * totalPages) / 20) + 1)
  const prompts: Library['prompts'][number][] = []
  for (const page of chosen) prompts.push(...(await read(page)).prompts)
  return prompts
    .map((prompt) => ({ prompt, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ prompt }) => prompt)
}

/** Asks each request once. Those whose answer is not whole are left out; that most are is a fault. @throws Error */
export async function keepAnswered(url: string, { name, isAnswer }: MeasuredRequest, asks: readonly Ask[]): Promise<Ask[]> {
  const kept: Ask[] = []
  for (const ask of asks) {
    const sent = ask.isChunked ? new Blob([ask.body ?? '']).stream() : (ask.body ?? null)
    const answer = await fetch(url + ask.path, { method: ask.method, headers: ask.headers, body: sent, duplex: 'half' })
    const body = await answer.text()
    if (answer.status !== 200 || saysError(body))
      throw new Error(`${name}: ${ask.path} ${ask.body ?? ''}: ${answer.status} ${body.slice(0, 300)}`)
    if (isAnswer(body)) kept.push(ask)
  }
  if (kept.length < asks.length / 2 || kept.length === 0)
    throw new Error(`${name}: of ${asks.length} requests only ${kept.length} were answered in full.`)
  return kept
}
