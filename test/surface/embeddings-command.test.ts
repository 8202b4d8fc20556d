import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, type ModelServer, startModelServer } from '../support/model-server.ts'
import { createPlaceWithKey, type Place } from '../support/processes.ts'
import { json, readJson } from '../support/test-app.ts'

/** Embeddings as operators and users meet them: the built service, a provider in a process of its own. */

const TOKEN = 'a-token-of-some-length'
const SECRET = 'sk-very-secret-key'
const MODEL = 'normal:finds'

let models: ModelServer
let place: Place
let key: string
beforeAll(async () => {
  models = await startModelServer()
  ;({ place, key } = await createPlaceWithKey('ada'))
})
afterAll(async () => {
  await place.remove()
  await models.stop()
})

it('the service embeds in the background, and finds by meaning what no word finds', async () => {
  const env = { EMBEDDINGS_URL: models.baseUrl, EMBEDDINGS_MODEL: MODEL, EMBEDDINGS_API_KEY: SECRET, METRICS_TOKEN: TOKEN }
  const { url } = await place.serveHere(env, { starter: true })
  const search = async (query: string): Promise<string[]> => {
    const found = await readJson(await fetch(`${url}/api/search/prompts?query=${encodeURIComponent(query)}`))
    return found.prompts.map((prompt: { title: string }) => prompt.title)
  }
  const isDone = async () => {
    const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text()
    return /^commonplace_encoder_items\{state="pending"\} 0$/m.test(text)
  }
  const prompt = { title: 'Whisker plan', content: 'A menu for a cat', visibility: 'public' }
  const headers = { 'content-type': 'application/json', 'x-api-key': key }
  expect((await fetch(`${url}/api/prompts`, { ...json('POST', prompt), headers })).status).toBe(201)
  expect(await eventually(isDone)).toBe(true)
  const status = await place.commonplace(['embeddings', 'status', '--json'], { env })
  expect(JSON.parse(status.stdout)).toEqual({ model: MODEL, total: 77, embedded: 77, pending: 0 })
  const ready = await fetch(`${url}/readyz`)
  expect([ready.status, (await readJson(ready)).embeddings]).toEqual([200, 'ok'])
  // The provider knows both as one; no text of the library has the second.
  expect(await search('kitty menu')).toContain('Whisker plan')
  expect((await search('kitty'))[0]).toBe('Whisker plan')
  const [batch] = await models.embeddings(MODEL)
  expect(batch?.authorization).toBe(`Bearer ${SECRET}`)
  expect(Math.max(...(await models.embeddings(MODEL)).map((entry) => entry.input.length))).toBeLessThanOrEqual(32)
})
