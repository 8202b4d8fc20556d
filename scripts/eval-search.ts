// How well search finds: loads prompts into a fresh library and asks queries whose answers are known, through the operation the tools call.
//   npm run eval:search -- --prompts FILE.csv --queries FILE.tsv [--members] [--database ADDRESS] [--json]
// With EMBEDDINGS_URL and EMBEDDINGS_MODEL a provider's embeddings are evaluated.
// The encoder makes the vectors of all prompts first, which takes minutes; ENCODER=off evaluates words and the word table.
// --members makes all prompts for members, and asks as one who owns none of them.
// --database keeps the library in an empty database of any engine, or in one that an earlier run filled. Default: a SQLite file that goes again.
// Queries: columns qid, kind, query, relevant (exact titles joined by " || ", none for a query that nothing answers). Titles that stand
// twice in the library are one answer. `claimed` is how many wrong hits claim to match, `unclaimed` the share of right ones that do not.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import type { ItemEncoding } from '../src/ai/item-encoding.ts'
import { type App, openApp } from '../src/app.ts'
import { toAppSettings } from '../src/cli/operator.ts'
import { loadConfig } from '../src/config/load-config.ts'
import { type Actor, ANONYMOUS } from '../src/domain/people/actor.ts'
import { importPrompts } from '../src/transfer/import-entries.ts'

/** How far down a list of results counts. */
const DEPTH = 10

const { values } = parseArgs({
  options: {
    prompts: { type: 'string' },
    queries: { type: 'string' },
    database: { type: 'string' },
    members: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
if (values.prompts === undefined || values.queries === undefined) {
  process.stderr.write('usage: npm run eval:search -- --prompts FILE.csv --queries FILE.tsv [--members] [--database ADDRESS] [--json]\n')
  process.exit(2)
}
const queries = readQueries(values.queries)
const answer = z.object({ prompts: z.array(z.object({ title: z.string(), approximate: z.boolean().optional() })) })
/** Who owns what is evaluated. */
const OWNER = 'eval'
const folder = mkdtempSync(join(tmpdir(), 'commonplace-eval-'))
try {
  const app = await openApp(
    toAppSettings(
      loadConfig({ ...pickSettings(process.env), DATABASE_URL: values.database ?? `sqlite:${join(folder, 'eval.db')}` }),
      'http://127.0.0.1',
    ),
  )
  try {
    if (!(await app.store.service.isEmpty()) && !(await app.store.people.findUser(OWNER))) {
      throw new Error('--database holds a library of somebody; give the address of an empty one')
    }
    const report = await importPrompts(app.store, values.prompts, { owner: OWNER, visibility: values.members ? 'members' : 'public' })
    const total = report.read - report.refused
    if (total === 0) throw new Error(`${values.prompts} holds no prompts`)
    if (app.itemEncoding) await encodeAll(app.itemEncoding)
    const search = app.operations.find((operation) => operation.name === 'search_prompts')
    if (!search) throw new Error('there is no search_prompts')
    const reader = values.members ? await openReader(app) : ANONYMOUS
    const results: (Judged & { kind: string })[] = []
    for (const query of queries) {
      const started = performance.now()
      const output = await search.call(app.contextFor(reader, 'rest'), { query: query.text, limit: DEPTH })
      const ms = performance.now() - started
      const hits = answer.parse(output).prompts
      const titles = hits.map((prompt) => prompt.title)
      const [right, wrong] = [true, false].map((isRight) => hits.filter(({ title }) => query.relevant.has(title) === isRight))
      const claims = { claimed: countExact(wrong), right: right?.length ?? 0, unclaimed: (right?.length ?? 0) - countExact(right) }
      results.push({ kind: query.kind, ...judge(titles, query.relevant), ...claims, isEmpty: titles.length === 0, ms })
    }
    const kinds = [...new Set(results.map((result) => result.kind))]
    const summary = {
      overall: summarise(results),
      byKind: Object.fromEntries(kinds.map((kind) => [kind, summarise(results.filter((result) => result.kind === kind))])),
    }
    if (values.json) process.stdout.write(`${JSON.stringify(summary)}\n`)
    else {
      process.stdout.write(`${total} prompts, ${results.length} queries\n`)
      for (const [name, figures] of [...Object.entries(summary.byKind), ['overall', summary.overall] as const]) {
        const { mrr10, success1, ndcg10, recall10, empty, claimed, unclaimed, p50Ms, p95Ms } = figures
        const shown = { 'MRR@10': mrr10, 'success@1': success1, 'nDCG@10': ndcg10, 'recall@10': recall10, empty, claimed, unclaimed }
        const numbers = Object.entries(shown).map(([label, value]) => `${label} ${value.toFixed(3)}`)
        process.stdout.write(`${name.padEnd(10)} ${numbers.join('  ')}  p50 ${p50Ms.toFixed(1)} ms  p95 ${p95Ms.toFixed(1)} ms\n`)
      }
    }
  } finally {
    await app.close()
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function countExact(hits: z.infer<typeof answer>['prompts'] = []): number {
  return hits.filter(({ approximate }) => !approximate).length
}

/** The settings that decide how search ranks. */
function pickSettings({ ENCODER, EMBEDDINGS_URL, EMBEDDINGS_MODEL, EMBEDDINGS_API_KEY }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ENCODER, EMBEDDINGS_URL, EMBEDDINGS_MODEL, EMBEDDINGS_API_KEY }
}

/** Resolves when every item has its vector. */
async function encodeAll(encoding: ItemEncoding): Promise<void> {
  const started = process.cpuUsage()
  let encoded = 0
  await encoding.encodeAll({
    onSaved: (count) => {
      encoded += count
    },
    onFailed: (id) => process.stderr.write(`the encoder has no vector of ${id}\n`),
  })
  const { user, system } = process.cpuUsage(started)
  process.stderr.write(`${encoded} items encoded in ${((user + system) / 1e6).toFixed(1)} s of processor time\n`)
}

interface Query {
  readonly kind: string
  readonly text: string
  readonly relevant: ReadonlySet<string>
}

function readQueries(path: string): Query[] {
  const [head = '', ...lines] = readFileSync(path, 'utf8')
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .filter((line) => line !== '')
  const columns = head.split('\t')
  const at = (name: string) => {
    const index = columns.indexOf(name)
    if (index < 0) throw new Error(`${path} has no column "${name}"`)
    return index
  }
  const [kind, query, relevant] = [at('kind'), at('query'), at('relevant')]
  return lines.map((line) => {
    const cells = line.split('\t')
    const titles = (cells[relevant] ?? '').split(' || ').filter((title) => title !== '')
    return { kind: cells[kind] ?? '', text: cells[query] ?? '', relevant: new Set(titles) }
  })
}

/** Reciprocal rank, nDCG (a title counts once, at its first place) and recall of the first results. */
function judge(titles: readonly string[], relevant: ReadonlySet<string>): { mrr: number; ndcg: number; recall: number } {
  const seen = new Set<string>()
  let mrr = 0
  let gain = 0
  titles.slice(0, DEPTH).forEach((title, index) => {
    if (!relevant.has(title) || seen.has(title)) return
    seen.add(title)
    mrr ||= 1 / (index + 1)
    gain += 1 / Math.log2(index + 2)
  })
  let ideal = 0
  for (let index = 0; index < Math.min(relevant.size, DEPTH); index++) ideal += 1 / Math.log2(index + 2)
  return { mrr, ndcg: ideal > 0 ? gain / ideal : 0, recall: relevant.size > 0 ? seen.size / relevant.size : 0 }
}

interface Judged {
  readonly mrr: number
  readonly ndcg: number
  readonly recall: number
  readonly isEmpty: boolean
  /** Wrong hits that claim to match, right hits, and right ones that do not claim it. */
  readonly claimed: number
  readonly right: number
  readonly unclaimed: number
  readonly ms: number
}

function summarise(results: readonly Judged[]) {
  const mean = (of: (result: Judged) => number) => results.reduce((sum, result) => sum + of(result), 0) / Math.max(1, results.length)
  const times = results.map((result) => result.ms).sort((a, b) => a - b)
  const percentile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return {
    mrr10: mean((result) => result.mrr),
    success1: mean((result) => (result.mrr === 1 ? 1 : 0)),
    ndcg10: mean((result) => result.ndcg),
    recall10: mean((result) => result.recall),
    empty: mean((result) => (result.isEmpty ? 1 : 0)),
    claimed: mean((result) => result.claimed),
    unclaimed: mean((result) => result.unclaimed) / (mean((result) => result.right) || 1),
    p50Ms: percentile(0.5),
    p95Ms: percentile(0.95),
  }
}

/** A member who owns nothing. */
async function openReader({ store }: App): Promise<Actor> {
  const name = 'reader'
  const { id, username } =
    (await store.people.findUser(name)) ?? (await store.people.createUser({ username: name, defaultVisibility: 'private' }))
  return { kind: 'user', userId: id, username, scopes: new Set(['read']) }
}
