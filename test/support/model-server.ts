import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { z } from 'zod'
import { endProcess } from './children.ts'

const STUB = fileURLToPath(new URL('./model-stub.ts', import.meta.url))

const logEntry = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  maxTokens: z.number(),
  authorization: z.string().nullable(),
  at: z.number(),
  hasLeft: z.boolean(),
})

const embeddingEntry = z.object({
  model: z.string(),
  input: z.array(z.string()),
  authorization: z.string().nullable(),
  at: z.number(),
  hasLeft: z.boolean(),
  status: z.number(),
})

/** What the stub was sent to embed once; `status` is 0 while it has not answered. */
type StubEmbeddingEntry = z.infer<typeof embeddingEntry>

/** What the stub was sent once: `at` is when, in milliseconds since 1970; `hasLeft` is whether the caller left before the end. */
type StubEntry = z.infer<typeof logEntry>

/** A running {@link file://./model-stub.ts}. */
export interface ModelServer {
  /** For OPENAI_BASE_URL and EMBEDDINGS_URL. */
  readonly baseUrl: string
  /** What came in for a model, or all of it. */
  log(model?: string): Promise<StubEntry[]>
  /** What came in to be embedded for a model. */
  embeddings(model: string): Promise<StubEmbeddingEntry[]>
  /** Makes a model that embeds behave like another from now on. */
  setMode(model: string, mode: string): Promise<void>
  stop(): Promise<void>
}

/** Starts the stub in a process of its own. */
export async function startModelServer(): Promise<ModelServer> {
  const child = spawn(process.execPath, [STUB], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  const address = String(line).trim()
  return {
    baseUrl: `${address}/v1`,
    async log(model) {
      const entries = z.array(logEntry).parse(await (await fetch(`${address}/log`)).json())
      return model === undefined ? entries : entries.filter((entry) => entry.model === model)
    },
    async embeddings(model) {
      const entries = z.array(embeddingEntry).parse(await (await fetch(`${address}/embeddings-log`)).json())
      return entries.filter((entry) => entry.model === model)
    },
    async setMode(model, mode) {
      await fetch(`${address}/embeddings-mode`, { method: 'POST', body: JSON.stringify({ model, mode }) })
    },
    stop: () => endProcess(child),
  }
}

/** Waits until `check` holds; false when it does not for a hundred seconds. */
export async function eventually(check: () => Promise<boolean>): Promise<boolean> {
  return await vi.waitUntil(check, { timeout: 100_000, interval: 20 }).catch(() => false)
}
