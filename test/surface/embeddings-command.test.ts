import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openAt } from '../support/engines.ts'
import { savePrompts } from '../support/library-fixtures.ts'
import { eventually, type ModelServer, startModelServer } from '../support/model-server.ts'
import { createPlaceWithKey, MAIN, type Place } from '../support/processes.ts'
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
async function serve(model: string, args: readonly string[] = []) {
  // One process: its own figures and what it says are looked at.
  const { url, child } = await place.serve({ env: using(model), args, instances: 1 })
  const written: string[] = []
  child.stderr?.on('data', (chunk) => written.push(String(chunk)))
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
    child,
    send,
    metric,
    written: () => written.join(''),
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
    stop: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
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
    const { save, search, pending, ready } = await serve(model, ['--starter'])
    await save('Whisker plan', 'A menu for a cat')
    expect(await eventually(async () => (await pending()) === 0, 15)).toBe(true)
    expect(await status(model)).toEqual({ model, total: 77, embedded: 77, pending: 0 })
    expect(await ready()).toEqual([200, 'ok'])
    // The provider knows both as one; no text of the library has the second.
    expect(await search('kitty menu')).toContain('Whisker plan')
    expect((await search('kitty'))[0]).toBe('Whisker plan')
    const [batch] = await models.embeddings(model)
    expect(batch?.authorization).toBe(`Bearer ${SECRET}`)
    expect(Math.max(...(await models.embeddings(model)).map((entry) => entry.input.length))).toBeLessThanOrEqual(32)
  })

  it('goes on after it was killed half-way, and sends nothing twice that was kept', async () => {
    const model = 'a-little-slow:killed'
    const first = await serve(model, ['--starter'])
    expect(await eventually(async () => (await first.metric('commonplace_embeddings_embedded_total')) > 0, 15)).toBe(true)
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    const { total, embedded, pending } = await status(model)
    expect([total, embedded > 0, pending > 0]).toEqual([76, true, true])
    const sentBefore = (await sentTexts(model)).length
    const again = await serve(model)
    expect(await eventually(async () => (await again.pending()) === 0, 20)).toBe(true)
    // Beside the probe at the start: what was missing, and no more.
    expect((await sentTexts(model)).length - sentBefore).toBe(pending + 1)
  })

  it('embeds anew what was edited, and nothing else', async () => {
    const model = 'normal:edited'
    const { save, send, search, pending } = await serve(model, ['--starter'])
    const { id } = await save('Whisker plan', 'A menu for a cat')
    expect(await eventually(async () => (await pending()) === 0, 15)).toBe(true)
    const before = (await sentTexts(model)).length
    await send('PATCH', `/api/prompts/${id}`, { content: 'A service plan for an automobile', title: 'Engine plan' })
    expect(await eventually(async () => (await sentTexts(model)).length > before)).toBe(true)
    expect(await eventually(async () => (await pending()) === 0)).toBe(true)
    expect((await sentTexts(model)).slice(before)).toEqual(['Engine plan\n\nA service plan for an automobile'])
    expect((await search('cars'))[0]).toBe('Engine plan')
    expect(await search('kitty')).toEqual([])
  })

  it('embeds all anew when the model is another, and forgets the one before', async () => {
    const first = await serve('normal:before', ['--starter'])
    expect(await eventually(async () => (await first.pending()) === 0, 15)).toBe(true)
    await first.stop()
    const second = await serve('small:after')
    expect(await eventually(async () => (await second.pending()) === 0, 15)).toBe(true)
    await second.save('Whisker plan', 'A menu for a cat')
    expect(await eventually(async () => (await second.search('kitty'))[0] === 'Whisker plan', 15)).toBe(true)
    expect(await eventually(async () => (await status('normal:before')).embedded === 0)).toBe(true)
  })

  it('notices what another process wrote', async () => {
    const model = 'normal:other'
    const { save, pending } = await serve(model)
    await save('First', 'A text')
    expect(await eventually(async () => (await pending()) === 0)).toBe(true)
    await saveHere('Whisker plan', 'A menu for a cat', 'public')
    // Woken by a write of its own; the slow look around would find it too.
    await save('Second', 'A text')
    expect(await eventually(async () => (await sentTexts(model)).some((text) => text.startsWith('Whisker plan')))).toBe(true)
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

  it('saves at once, however slow the provider is', async () => {
    const { save, metric } = await serve('never:save')
    const started = performance.now()
    for (let n = 0; n < 20; n++) await save(`Number ${n}`, 'text')
    expect(performance.now() - started).toBeLessThan(5000)
    expect(await metric('commonplace_embeddings_items{state="pending"}')).toBe(20)
  })

  it('stops at once in the middle of a request', async () => {
    const { save, child } = await serve('never:stop')
    await save('One', 'text')
    const isAsked = async () => (await sentTexts('never:stop')).includes('One\n\ntext')
    expect(await eventually(isAsked)).toBe(true)
    const started = performance.now()
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    expect([code, performance.now() - started < 4000]).toEqual([0, true])
    expect(await eventually(async () => (await models.embeddings('never:stop')).every((entry) => entry.hasLeft))).toBe(true)
  })

  it('leaves out a text the provider refuses, says so once, and takes it when it was changed', async () => {
    const model = 'refuses-one:text'
    const { save, send, pending, written, ready } = await serve(model, ['--starter'])
    const { id } = await save('Bad one', 'unspeakable')
    expect(await eventually(async () => (await pending()) === 1, 15)).toBe(true)
    const isSaid = () => written().split(`rejected the text of item ${id}`).length - 1
    expect(await eventually(async () => isSaid() === 1)).toBe(true)
    const before = (await sentTexts(model)).length
    await save('Good one', 'Fine')
    expect(await eventually(async () => (await sentTexts(model)).includes('Good one\n\nFine'))).toBe(true)
    expect((await sentTexts(model)).length).toBe(before + 1)
    expect([isSaid(), await ready()]).toEqual([1, [200, 'ok']])
    await send('PATCH', `/api/prompts/${id}`, { content: 'speakable' })
    expect(await eventually(async () => (await pending()) === 0)).toBe(true)
    expect(written()).not.toContain('unspeakable')
  })

  it('takes a provider that refuses everything for one that fails', async () => {
    const { save, ready, written, metric } = await serve('refuses-all:it')
    await save('One', 'text')
    expect(await eventually(async () => written().includes('rejects every text'))).toBe(true)
    expect(await ready()).toEqual([200, 'degraded'])
    expect(await metric('commonplace_embeddings_refused_total')).toBe(0)
  })
})

describe('a provider that fails', () => {
  it('at the start: search answers without it, /readyz says so, and all is made up for when it comes', async () => {
    const model = 'normal:late'
    await models.setMode(model, 'broken')
    const { save, search, ready, pending, written } = await serve(model, ['--starter'])
    await save('Whisker plan', 'A menu for a cat')
    expect(await eventually(async () => (await ready())[1] === 'degraded')).toBe(true)
    expect((await ready())[0]).toBe(200)
    const started = performance.now()
    expect((await search('whisker'))[0]).toBe('Whisker plan')
    for (let n = 0; n < 10; n++) await search(`whisker ${n}`)
    expect(performance.now() - started).toBeLessThan(5000)
    expect(await pending()).toBe(77)
    await models.setMode(model, 'normal')
    expect(await eventually(async () => (await pending()) === 0, 40)).toBe(true)
    expect(await eventually(async () => (await ready())[1] === 'ok', 40)).toBe(true)
    expect((await search('kitty'))[0]).toBe('Whisker plan')
    expect(written()).toContain('returned 500')
    for (const hidden of [SECRET, 'whisker', 'Whisker']) expect(written()).not.toContain(hidden)
  })

  it.each(['never', 'broken', 'garbage', 'one-too-few', 'uneven-dims', 'slow'])(
    'in the middle (%s): one search waits a moment, the others do not, and none fails',
    async (mode) => {
      const model = `normal:middle-${mode}`
      const { save, search, ready, pending, metric } = await serve(model, ['--starter'])
      await save('Whisker plan', 'A menu for a cat')
      expect(await eventually(async () => (await pending()) === 0, 15)).toBe(true)
      await models.setMode(model, mode)
      const first = performance.now()
      expect(await search('whisker menu')).toContain('Whisker plan')
      expect(performance.now() - first).toBeLessThan(4000)
      const others = performance.now()
      for (let n = 0; n < 10; n++) expect(await search(`whisker menu ${n}`)).toContain('Whisker plan')
      expect(performance.now() - others).toBeLessThan(3000)
      // The first is a single text, so that one vector too few is none, and uneven lengths are even.
      if (mode === 'uneven-dims') return expect(await ready()).toEqual([200, 'ok'])
      expect(await ready()).toEqual([200, 'degraded'])
      expect(await metric('commonplace_embeddings_queries_total{source="fallback"}')).toBeGreaterThanOrEqual(11)
      await models.setMode(model, 'normal')
      expect(await eventually(async () => (await ready())[1] === 'ok', 40)).toBe(true)
      expect((await search('kitty'))[0]).toBe('Whisker plan')
    },
  )
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

  it('goes on where it was interrupted', async () => {
    const model = 'a-little-slow:resume'
    const env = using(model)
    const { stop } = await serve('never:starter', ['--starter'])
    await stop()
    const child = place.start(['embeddings', 'rebuild'], { env })
    // Read by this process: starting the command to ask could take until all is done.
    const database = openAt(place.databaseUrl)
    const isBegun = async () =>
      (await database.reader.selectFrom('embedding').select('seq').where('model', '=', model).limit(1).execute()).length > 0
    expect(await eventually(isBegun, 20)).toBe(true)
    child.kill('SIGINT')
    await database.close()
    await once(child, 'exit')
    const { embedded, pending } = await status(model)
    expect([embedded > 0, pending > 0]).toEqual([true, true])
    const resumed = await place.commonplace(['embeddings', 'rebuild', '--resume'], { env })
    expect(resumed.stdout).toBe(`${pending} items embedded with ${model}, 0 rejected.\n`)
    expect(await status(model)).toEqual({ model, total: 76, embedded: 76, pending: 0 })
  })

  it('is felt by a service that runs', async () => {
    const model = 'normal:both'
    const { save, search, pending } = await serve(model, ['--starter'])
    await save('Whisker plan', 'A menu for a cat')
    expect(await eventually(async () => (await pending()) === 0, 15)).toBe(true)
    expect((await search('kitty'))[0]).toBe('Whisker plan')
    await place.commonplace(['embeddings', 'rebuild'], { env: using(model) })
    expect((await search('feline'))[0]).toBe('Whisker plan')
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

it('loads what writes metrics only when they are asked for', () => {
  const folder = dirname(MAIN)
  const loaded = new Set<string>()
  const load = (name: string) => {
    if (loaded.has(name)) return
    loaded.add(name)
    for (const [, next = ''] of readFileSync(join(folder, name), 'utf8').matchAll(/^(?:import|export)\b[^;\n]*?"\.\/([^"]+)"/gm)) load(next)
  }
  load('main.js')
  const holds = (name: string) => readFileSync(join(folder, name), 'utf8').includes('process_cpu_user_seconds_total')
  expect([...loaded].filter(holds)).toEqual([])
  expect(readdirSync(folder).filter(holds).length).toBeGreaterThan(0)
})
