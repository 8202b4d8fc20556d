import { callMcp, callTool, get, HTML_HEADERS, type Library, type MeasuredRequest } from './asks.ts'
import type { Ask } from './drive.ts'
import { seededRandom } from './recombined-prompts.ts'

const SEED = 20_261_122
/** What a call in another form may cost, as a multiple of the plain one. */
const FORM_LIMIT = 1.5
const CALLS = ['ping', 'search_prompts (10 full prompts)', 'get_prompt']
const STREAM = 'application/json, text/event-stream'
const SESSION_VERSION = '2025-06-18'

/** A form that clients send their requests in: how it changes a plain one. */
interface Form {
  readonly name: string
  /** The plain requests it is measured for. */
  readonly of: readonly string[]
  readonly limit?: number
  prepare(library: Library): ((ask: Ask) => Ask) | Promise<(ask: Ask) => Ask>
}

function withHeaders(ask: Ask, headers: Readonly<Record<string, string>>): Ask {
  return { ...ask, headers: { ...ask.headers, ...headers } }
}

const FORMS: readonly Form[] = [
  { name: 'chunked', of: CALLS, limit: FORM_LIMIT, prepare: () => (ask) => ({ ...ask, isChunked: true }) },
  {
    name: 'with Origin',
    of: CALLS,
    limit: FORM_LIMIT,
    prepare:
      ({ url }) =>
      (ask) =>
        withHeaders(ask, { origin: url }),
  },
  {
    name: 'in a session',
    of: CALLS,
    limit: FORM_LIMIT,
    async prepare({ url }) {
      const session = await openSession(url)
      return (ask) => withHeaders(ask, { accept: STREAM, 'mcp-session-id': session, 'mcp-protocol-version': SESSION_VERSION })
    },
  },
  {
    name: 'with a key',
    of: ['search_prompts (10 full prompts)', 'get_prompt', 'GET /api/prompts (a page)'],
    prepare:
      ({ key }) =>
      (ask) =>
        withHeaders(ask, { 'x-api-key': key }),
  },
]

async function openSession(url: string): Promise<string> {
  const clientInfo = { name: 'bench', version: '1.0.0' }
  const { headers, body } = callMcp(0, 'initialize', { protocolVersion: SESSION_VERSION, capabilities: {}, clientInfo })
  const answer = await fetch(`${url}/api/mcp`, { method: 'POST', headers: { ...headers, accept: STREAM }, body: body ?? null })
  await answer.text()
  const session = answer.headers.get('mcp-session-id')
  if (session === null) throw new Error('No session was opened.')
  return session
}

/** The requests that are measured in other forms beside a plain one. */
export function otherForms(plain: MeasuredRequest): MeasuredRequest[] {
  const forms = FORMS.filter(({ of }) => of.includes(plain.name)).map(
    ({ name, limit, prepare }): MeasuredRequest => ({
      name: `${plain.name}, ${name}`,
      ...(limit === undefined ? {} : { beside: { name: plain.name, limit } }),
      async makeAsks(library) {
        const change = await prepare(library)
        return (await plain.makeAsks(library)).map(change)
      },
      isAnswer: plain.isAnswer,
    }),
  )
  return [...forms, ...neverAsked(plain)]
}

/** Searches of which none was asked before. */
function neverAsked({ name }: MeasuredRequest): MeasuredRequest[] {
  return (NEVER_ASKED[name] ?? []).map(({ form, budget, guardLimit, toAsk }) => {
    const makeNext = (library: Library) => {
      const nextQuery = recombineQueries(library)
      let id = 0
      return () => toAsk(nextQuery(), ++id, library)
    }
    return {
      name: `${name}, never asked before${form}`,
      ...(budget === undefined ? {} : { budget }),
      ...(guardLimit === undefined ? {} : { guardLimit }),
      makeAsks(library) {
        const next = makeNext(library)
        return Array.from({ length: 20 }, next)
      },
      makeNext,
      isAnswer: (body) => !body.includes('"prompts":[]') && !body.includes('\\"prompts\\":[]'),
    }
  })
}

/** How each plain request is made of a new query. */
const NEVER_ASKED: Readonly<
  Record<string, readonly { form: string; budget?: number; guardLimit?: number; toAsk(query: string, id: number, library: Library): Ask }[]>
> = {
  'search_prompts (10 full prompts)': [
    { form: '', budget: 20, toAsk: (query, id) => callTool(id, 'search_prompts', { query, limit: 10 }) },
    {
      form: ', with a key',
      budget: 25,
      toAsk: (query, id, { key }) => withHeaders(callTool(id, 'search_prompts', { query, limit: 10 }), { 'x-api-key': key }),
    },
  ],
  'GET /api/prompts?q=': [{ form: '', toAsk: (query) => get(`/api/prompts?q=${encodeURIComponent(query)}`) }],
  // Its budget is not met: half of the time goes into drawing the page. The limit is three times 60.
  'search page (24 prompts)': [
    { form: '', budget: 30, guardLimit: 180, toAsk: (query) => get(`/prompts?q=${encodeURIComponent(query)}`, HTML_HEADERS) },
  ],
}

/** All queries that a run has made: those of one kind of request are never asked by another. */
const made = new Set<string>()

/** Makes queries of two to five words of the library's titles and queries, none of them twice. */
export function recombineQueries({ prompts, queries }: Pick<Library, 'prompts' | 'queries'>): () => string {
  const words = [
    ...new Set([...queries, ...prompts.map(({ title }) => title)].flatMap((text) => text.toLowerCase().match(/\p{L}{3,}/gu) ?? [])),
  ]
  const random = seededRandom(SEED)
  return () => {
    for (;;) {
      const count = 2 + Math.floor(random() * 4)
      const query = Array.from({ length: count }, () => words[Math.floor(random() * words.length)]).join(' ')
      if (made.has(query)) continue
      made.add(query)
      return query
    }
  }
}

/** A plain request while somebody saves. */
export function whileSaving(plain: MeasuredRequest): MeasuredRequest[] {
  if (!['search_prompts (10 full prompts)', 'get_prompt', 'prompts/list (a page)'].includes(plain.name)) return []
  return [{ name: `${plain.name}, while somebody saves`, isWhileSaving: true, makeAsks: plain.makeAsks, isAnswer: plain.isAnswer }]
}
