import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ModelServer, startModelServer } from '../support/model-server.ts'
import { createPlaceWithKey, type Place } from '../support/processes.ts'

/** Improving prompts as users and operators meet it: the built program, a model server, real connections. */

const SECRET = 'sk-very-secret-key'
const PROMPT = 'greet ${who} from the walrus'

let models: ModelServer
let place: Place
let key: string
beforeAll(async () => {
  models = await startModelServer()
})
afterAll(() => models.stop())
beforeEach(async () => {
  ;({ place, key } = await createPlaceWithKey('ada'))
})
afterEach(() => place.remove())

/** The settings for a model of the stub. */
const using = (model: string, more: Record<string, string> = {}) => ({
  IMPROVE_MODEL: model,
  OPENAI_BASE_URL: models.baseUrl,
  OPENAI_API_KEY: SECRET,
  ...more,
})

/** Starts the service and collects what it writes. */
async function serve(env: Record<string, string>) {
  const { url, child, stdout } = await place.serve({ env: { LOG_LEVEL: 'trace', ...env }, instances: 1 })
  const written = [stdout]
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => written.push(String(chunk)))
  const improve = (body: object = { prompt: PROMPT }, headers: Record<string, string> = {}) =>
    fetch(`${url}/api/improve-prompt`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
      body: JSON.stringify(body),
    })
  return { url, child, improve, written: () => written.join('') }
}

describe('the service', () => {
  it('keeps a quiet stream alive', async () => {
    const { improve } = await serve(using('never:quiet', { IMPROVE_TIMEOUT_SECONDS: '12' }))
    const response = await improve(undefined, { accept: 'text/event-stream' })
    const text = await response.text()
    expect([response.status, text.startsWith(': keep-alive\n\n')]).toEqual([200, true])
    expect(text).toMatch(/event: error\ndata: \{"error":"upstream_failed","message":"never:quiet did not finish within 12 seconds\."/)
  })
})
