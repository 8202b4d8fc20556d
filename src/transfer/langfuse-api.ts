import { z } from 'zod'
import { AppError } from '../errors.ts'
import type { ImportEntry } from './import-entries.ts'
import { readForeignDraft, type toPromptDraft } from './prompt-file.ts'
import { waitForTurns } from './wait-for-turns.ts'

const TIMEOUT_MS = 30_000
/** Largest answer taken, in bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const PAGE = 100
/** Most prompts of one import. */
const MAX_PROMPTS = 10_000
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

const listAnswer = z.object({
  data: z.array(z.object({ name: z.string(), labels: z.array(z.string()).optional() })),
  meta: z.object({ totalPages: z.number() }),
})

/**
 * Reads all prompts of a Langfuse project over its API (`GET /api/public/v2/prompts`): of each the version in production, else the newest.
 * @param keys the public and the secret key of the project
 * @throws AppError `invalid_input` for an address that is not allowed, `unauthenticated`, `upstream_failed`
 */
export async function* readLangfuse(
  address: string,
  keys: { readonly publicKey: string; readonly secretKey: string },
): AsyncGenerator<ImportEntry> {
  const base = URL.parse(address)
  if (!base || !(base.protocol === 'https:' || (base.protocol === 'http:' && LOOPBACK.has(base.hostname)))) {
    throw new AppError('invalid_input', 'The address must be https (or http on this machine).')
  }
  if (base.username || base.password) {
    throw new AppError('invalid_input', 'The address must not contain keys. Set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY instead.')
  }
  const root = `${base.origin}${base.pathname.replace(/\/+$/, '')}/api/public/v2/prompts`
  const authorization = `Basic ${Buffer.from(`${keys.publicKey}:${keys.secretKey}`).toString('base64')}`
  const ask = waitForTurns((path: string) => askJson(`${root}${path}`, authorization))
  const names = new Map<string, boolean>()
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { data, meta } = toAnswer(await ask(`?page=${page}&limit=${PAGE}`))
    for (const { name, labels } of data) names.set(name, labels?.includes('production') ?? true)
    if (names.size > MAX_PROMPTS)
      throw new AppError('too_large', `The project has more than ${MAX_PROMPTS} prompts. Import an export of it.`)
    pages = Math.min(meta.totalPages, MAX_PROMPTS)
    if (data.length === 0) break
  }
  for (const [name, isInProduction] of names) {
    const made = await readOne(() => ask(`/${encodeURIComponent(name)}${isInProduction ? '' : '?label=latest'}`))
    yield 'fault' in made ? { name, kind: null, fault: made.fault } : { name, kind: 'prompt', draft: made.draft }
  }
}

/** One prompt, or why there is none: a failure of one costs no other. @throws AppError `unauthenticated` */
async function readOne(ask: () => Promise<unknown>): Promise<ReturnType<typeof toPromptDraft>> {
  try {
    return readForeignDraft(await ask()) ?? { fault: 'is no prompt that is known here' }
  } catch (error) {
    if (error instanceof AppError && (error.code === 'upstream_failed' || error.code === 'rate_limited')) return { fault: error.message }
    throw error
  }
}

function toAnswer(value: unknown): z.infer<typeof listAnswer> {
  const read = listAnswer.safeParse(value)
  if (!read.success) throw new AppError('upstream_failed', 'The server is no Langfuse: its list of prompts has another form.')
  return read.data
}

async function askJson(url: string, authorization: string): Promise<unknown> {
  let response: Response
  const chunks: Uint8Array[] = []
  try {
    response = await fetch(url, {
      headers: { Authorization: authorization, Accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    let size = 0
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength
      if (size > MAX_ANSWER_BYTES) throw new AppError('upstream_failed', `The response exceeds ${MAX_ANSWER_BYTES} bytes.`)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : String(error)
    throw new AppError('upstream_failed', `Could not reach ${new URL(url).origin}: ${reason}.`, { cause: error })
  }
  if (response.status === 429) {
    const retryAfterSeconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    const wait = Number.isFinite(retryAfterSeconds) ? { retryAfterSeconds } : {}
    throw new AppError('rate_limited', 'Langfuse asks for fewer calls (429).', wait)
  }
  if (response.status === 401 || response.status === 403) throw new AppError('unauthenticated', 'Langfuse refused the keys. Check both.')
  try {
    if (!response.ok) throw new SyntaxError()
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return value
  } catch {
    throw new AppError('upstream_failed', `Langfuse answered ${response.status} without a prompt.`)
  }
}
