import { serve } from '../../src/cli/serve.ts'
import { loadConfig } from '../../src/config/load-config.ts'

/** A service that runs in the test's own process. */
export interface ServedHere {
  readonly url: string
  /** What it printed, and what it logged, so far. */
  stdout(): string
  log(): string
  stop(): Promise<void>
}

/** Runs `serve` in the test's own process: starting one takes ten times as long. Resolves when it is ready. @throws what ends it before */
export async function serveHere(env: Readonly<Record<string, string>>, options: { starter: boolean }): Promise<ServedHere> {
  const ready = Promise.withResolvers<string>()
  const stopping = Promise.withResolvers<void>()
  let [stdout, log] = ['', '']
  const before = process.env
  process.env = { ...before, ...env }
  const ended = serve(
    loadConfig(),
    { ...options, create: false },
    {
      write(text) {
        stdout += text
        const [, url] = /Commonplace is running at (\S+)[\s\S]*Stop with/.exec(stdout) ?? []
        if (url !== undefined) ready.resolve(url)
      },
      log: {
        write(line) {
          log += line
        },
      },
      untilStopped: () => stopping.promise,
    },
  )
  ended.catch(ready.reject)
  const url = await ready.promise.finally(() => {
    process.env = before
  })
  return {
    url,
    stdout: () => stdout,
    log: () => log,
    stop() {
      stopping.resolve()
      return ended
    },
  }
}
