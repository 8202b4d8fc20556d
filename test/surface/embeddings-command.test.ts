import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually, type ModelServer, startModelServer } from '../support/model-server.ts'
import { createPlaceWithKey, type Place } from '../support/processes.ts'
import { json, readJson } from '../support/test-app.ts'

/** Embeddings as operators and users meet them: the built service, a provider in a process of its own. */

const TOKEN = 'a-token-of-some-length'
const SECRET = 'sk-very-secret-key'

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

const using = (model: string) => ({
  EMBEDDINGS_URL: models.baseUrl,
  EMBEDDINGS_MODEL: model,
  EMBEDDINGS_API_KEY: SECRET,
  METRICS_TOKEN: TOKEN,
})

/** Starts the service, and has helpers for what the tests do with it. */
async function serve(model: string, options?: { starter: boolean }) {
  const { url, log, stop } = await place.serveHere(using(model), options)
  const send = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    return await fetch(`${url}${path}`, { ...(body ? json(method, body) : { method }), headers })
  }
  const metric = async (name: string) => {
    const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text()
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length),
    )
  }
  return {
    url,
    send,
    metric,
    log,
    save: async (title: string, content: string, visibility = 'public') =>
      (await readJson(await send('POST', '/api/prompts', { title, content, visibility }))).prompt as { id: string },
    search: async (query: string): Promise<string[]> => {
      const found = await readJson(await fetch(`${url}/api/search/prompts?query=${encodeURIComponent(query)}`))
      return found.prompts.map((prompt: { title: string }) => prompt.title)
    },
    ready: async () => {
      const response = await fetch(`${url}/readyz`)
      return [response.status, (await readJson(response)).embeddings]
    },
    pending: () => metric('commonplace_embeddings_items{state="pending"}'),
    stop,
  }
}

const status = async (model: string) =>
  JSON.parse((await place.commonplace(['embeddings', 'status', '--json'], { env: using(model) })).stdout)
/** Every text the provider was ever sent for a model. */
const sentTexts = async (model: string) => (await models.embeddings(model)).flatMap((entry) => entry.input)

describe('the service', () => {
  it('embeds in the background, and finds by meaning what no word finds', async () => {
    const model = 'normal:finds'
    const { save, search, pending, ready } = await serve(model, { starter: true })
    await save('Whisker plan', 'A menu for a cat')
    expect(await eventually(async () => (await pending()) === 0)).toBe(true)
    expect(await status(model)).toEqual({ model, total: 77, embedded: 77, pending: 0 })
    expect(await ready()).toEqual([200, 'ok'])
    // The provider knows both as one; no text of the library has the second.
    expect(await search('kitty menu')).toContain('Whisker plan')
    expect((await search('kitty'))[0]).toBe('Whisker plan')
    const [batch] = await models.embeddings(model)
    expect(batch?.authorization).toBe(`Bearer ${SECRET}`)
    expect(Math.max(...(await models.embeddings(model)).map((entry) => entry.input.length))).toBeLessThanOrEqual(32)
  })

  it('never sends what is private, unlisted or in the trash, nor the questions about it', async () => {
    const model = 'normal:secret'
    const { save, send, pending, url } = await serve(model)
    const hidden = await save('Private', 'walrus one', 'private')
    await save('Unlisted', 'walrus two', 'unlisted')
    const published = await save('Published later', 'seagull', 'private')
    const open = await save('Open', 'heron')
    expect(await eventually(async () => (await pending()) === 0)).toBe(true)
    expect((await sentTexts(model)).filter((text) => text !== 'prompt')).toEqual(['Open\n\nheron'])
    // Edits and restores of what is hidden say nothing either.
    await send('PATCH', `/api/prompts/${hidden.id}`, { content: 'walrus three' })
    await send('PATCH', `/api/prompts/${published.id}`, { visibility: 'public' })
    expect(await eventually(async () => (await sentTexts(model)).includes('Published later\n\nseagull'))).toBe(true)
    expect(await eventually(async () => (await pending()) === 0)).toBe(true)
    await send('PATCH', `/api/prompts/${published.id}`, { visibility: 'private' })
    await send('DELETE', `/api/prompts/${open.id}`)
    expect(await status(model)).toEqual({ model, total: 0, embedded: 0, pending: 0 })
    await send('PATCH', `/api/prompts/${published.id}`, { content: 'seagull in private' })
    await save('Open too', 'gannet')
    expect(await eventually(async () => (await sentTexts(model)).includes('Open too\n\ngannet'))).toBe(true)
    const read = await fetch(`${url}/api/prompts/${hidden.id}`, { headers: { 'x-api-key': key } })
    expect(read.status).toBe(200)
    for (const text of await sentTexts(model)) expect(text).not.toMatch(/walrus|in private/)
  })
})
