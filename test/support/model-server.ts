import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const STUB = fileURLToPath(new URL('./model-stub.ts', import.meta.url))

const logEntry = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  maxTokens: z.number(),
  authorization: z.string().nullable(),
  at: z.number(),
  hasLeft: z.boolean(),
})

/** What the stub was sent once: `at` is when, in milliseconds since 1970; `hasLeft` is whether the caller left before the end. */
type StubEntry = z.infer<typeof logEntry>

/** A running {@link file://./model-stub.ts}. */
export interface ModelServer {
  /** For OPENAI_BASE_URL. */
  readonly baseUrl: string
  /** What came in for a model, or all of it. */
  log(model?: string): Promise<StubEntry[]>
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
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

/** Waits until `check` holds, at most five seconds. */
export async function eventually(check: () => Promise<boolean>): Promise<boolean> {
  for (let i = 0; i < 100; i++) {
    if (await check()) return true
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return false
}
