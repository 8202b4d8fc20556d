import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { savePrompts } from '../support/library-fixtures.ts'
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
/** Saves a prompt by another process than the service's. */
const saveHere = (title: string, content: string, visibility: 'public' | 'private') =>
  savePrompts(place.databaseUrl, 'ada', [{ title, content, visibility }])
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

describe('the command', () => {
  it('tells how far it is, and rebuilds', async () => {
    const model = 'normal:cli'
    const env = using(model)
    await saveHere('Cats', 'All about cats', 'public')
    await saveHere('Secret', 'walrus', 'private')
    const before = await place.commonplace(['embeddings', 'status'], { env })
    expect([before.code, before.stdout]).toEqual([0, `${model}: 0 of 1 public items embedded, 1 pending.\n`])
    for (const times of [1, 2]) {
      const rebuilt = await place.commonplace(['embeddings', 'rebuild'], { env })
      expect([rebuilt.code, rebuilt.stdout, rebuilt.stderr]).toEqual([0, `1 items embedded with ${model}, 0 rejected.\n`, ''])
      expect(await sentTexts(model)).toEqual(Array.from({ length: times }, () => 'Cats\n\nAll about cats'))
    }
    const resumed = await place.commonplace(['embeddings', 'rebuild', '--resume'], { env })
    expect([resumed.code, resumed.stdout]).toEqual([0, `0 items embedded with ${model}, 0 rejected.\n`])
    const after = await place.commonplace(['embeddings', 'status'], { env })
    expect(after.stdout).toBe(`${model}: 1 of 1 public items embedded, 0 pending.\n`)
  })

  it('says what is wrong, with a status', async () => {
    await saveHere('Cats', 'All about cats', 'public')
    await saveHere('Bad', 'unspeakable', 'public')
    for (const args of [['status'], ['rebuild']]) {
      const off = await place.commonplace(['embeddings', ...args], { env: { EMBEDDINGS_URL: '', EMBEDDINGS_MODEL: '' } })
      const sentence = 'No embeddings provider is configured. Set EMBEDDINGS_URL and EMBEDDINGS_MODEL.\n'
      expect([off.code, off.stdout, off.stderr]).toEqual([64, '', sentence])
    }
    const wrongKey = await place.commonplace(['embeddings', 'rebuild'], { env: using('bad-key:cli') })
    expect([wrongKey.code, wrongKey.stdout, wrongKey.stderr]).toEqual([
      69,
      '',
      'The embedding model bad-key:cli returned 401 (the key was rejected).\n',
    ])
    const all = await place.commonplace(['embeddings', 'rebuild'], { env: using('refuses-all:cli') })
    expect([all.code, all.stderr]).toEqual([69, 'The embedding model refuses-all:cli rejects every text. Check EMBEDDINGS_MODEL.\n'])
    const one = await place.commonplace(['embeddings', 'rebuild'], { env: using('refuses-one:cli') })
    expect([one.code, one.stdout]).toEqual([1, '1 items embedded with refuses-one:cli, 1 rejected.\n'])
    expect(one.stderr).toMatch(/^The model rejected the text of item [0-9a-f-]{36}; the item has no embedding\.\n$/)
    const pair = await place.commonplace(['serve'], { env: { EMBEDDINGS_URL: models.baseUrl, EMBEDDINGS_MODEL: '' } })
    expect([pair.code, pair.stderr]).toEqual([64, 'EMBEDDINGS_URL also needs EMBEDDINGS_MODEL. Set both or neither.\n'])
  })
})
