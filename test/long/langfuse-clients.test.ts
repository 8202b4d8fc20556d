import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Langfuse, LangfuseClient } from '../../tools/langfuse.ts'
import { endProcess } from '../support/children.ts'
import { createPlaceWithKey, type Place, type Served } from '../support/processes.ts'

/** The client that Langfuse publishes, against the built service. */

let place: Place
let key: string
let served: Served
let langfuse: LangfuseClient
const connect = () => new LangfuseClient({ publicKey: 'pk-lf-free text', secretKey: key, baseUrl: served.url })

beforeAll(async () => {
  // It writes each refusal to the console.
  for (const method of ['error', 'warn', 'log'] as const) vi.spyOn(console, method).mockImplementation(() => {})
  ;({ place, key } = await createPlaceWithKey('ada'))
  served = await place.serve()
  langfuse = connect()
})
afterAll(async () => {
  vi.restoreAllMocks()
  await place.remove()
})

const HISTORY = { type: 'placeholder', name: 'history' } as const
const CHAT = [{ role: 'system', content: 'You are {{who}}.' }, HISTORY, { role: 'user', content: 'Hi, ${literal} {{ who }}' }]

describe('@langfuse/client', () => {
  it('creates a text and reads it back, by default, label and version', async () => {
    const prompt = 'Hi {{name}}, {"a": {{x}}} costs ${{amount}} and ${y}'
    const made = await langfuse.prompt.create({
      name: 'folder/sub folder/hello',
      type: 'text',
      prompt,
      config: { model: 'm' },
      labels: ['production'],
      tags: ['t'],
      commitMessage: 'First',
    })
    expect(made).toMatchObject({ name: 'folder/sub folder/hello', version: 1, prompt, commitMessage: 'First' })
    await langfuse.prompt.create({ name: made.name, prompt: 'next {{name}}' })
    const read = await langfuse.prompt.get(made.name)
    expect(read).toMatchObject({ prompt, version: 1, isFallback: false, config: { model: 'm' }, labels: ['production'], tags: ['t'] })
    expect(read.compile({ name: 'Ada', x: '1', amount: '5' })).toBe('Hi Ada, {"a": 1} costs $5 and ${y}')
    expect(read.getLangchainPrompt()).toContain('Hi {name}')
    expect((await langfuse.prompt.get(made.name, { label: 'latest' })).version).toBe(2)
    expect((await langfuse.prompt.get(made.name, { version: 2 })).prompt).toBe('next {{name}}')
  })

  it('creates a chat, and compiles it with placeholders', async () => {
    await langfuse.prompt.create({ name: 'chat', type: 'chat', prompt: CHAT, labels: ['production'] })
    const chat = await langfuse.prompt.get('chat', { type: 'chat' })
    expect(JSON.parse(chat.toJSON()).prompt).toEqual(CHAT)
    expect(chat.compile({ who: 'Ada' }, { history: [{ role: 'assistant', content: 'before' }] })).toEqual([
      { role: 'system', content: 'You are Ada.' },
      { role: 'assistant', content: 'before' },
      { role: 'user', content: 'Hi, ${literal} Ada' },
    ])
  })

  it('lists in pages, and narrows them', async () => {
    for (let number = 0; number < 12; number++) await langfuse.api.prompts.create({ type: 'text', name: `page/${number}`, prompt: 'x' })
    const first = await langfuse.api.prompts.list({ limit: 5, page: 1 })
    expect([first.data.length, first.meta]).toEqual([5, { page: 1, limit: 5, totalItems: 14, totalPages: 3 }])
    expect((await langfuse.api.prompts.list({ limit: 5, page: 3 })).data).toHaveLength(4)
    expect((await langfuse.api.prompts.list({ name: 'chat' })).data).toMatchObject([{ name: 'chat', type: 'chat', versions: [1] }])
    expect((await langfuse.api.prompts.list({ label: 'production', tag: 't' })).data).toMatchObject([
      { name: 'folder/sub folder/hello', versions: [1], lastConfig: { model: 'm' } },
    ])
  })

  it('moves labels', async () => {
    const name = 'folder/sub folder/hello'
    const moved = await langfuse.prompt.update({ name, version: 2, newLabels: ['production', 'staging'] })
    expect(moved.labels.toSorted()).toEqual(['latest', 'production', 'staging'])
    expect((await langfuse.prompt.get(name, { cacheTtlSeconds: 0 })).version).toBe(2)
    await expect(langfuse.prompt.update({ name, version: 2, newLabels: ['latest'] })).rejects.toMatchObject({ statusCode: 400 })
  })

  it('gets the errors that it has classes for', async () => {
    await expect(langfuse.prompt.get('nothing', { maxRetries: 0 })).rejects.toMatchObject({
      message: expect.stringContaining('NotFoundError'),
      statusCode: 404,
      body: { message: "Prompt not found: 'nothing' with label 'production'", error: 'LangfuseNotFoundError' },
    })
    const stranger = new LangfuseClient({ publicKey: 'pk', secretKey: 'sk-lf-wrong', baseUrl: served.url })
    await expect(stranger.prompt.get('chat', { maxRetries: 0 })).rejects.toMatchObject({
      message: expect.stringContaining('UnauthorizedError'),
      statusCode: 401,
    })
    await expect(langfuse.prompt.delete('chat', { version: 1 })).rejects.toMatchObject({
      message: expect.stringContaining('AccessDeniedError'),
      statusCode: 403,
    })
    const other = { name: 'chat', type: 'text', prompt: 'x' } as const
    await expect(langfuse.prompt.create(other)).rejects.toMatchObject({ statusCode: 400 })
  })

  it('has the client before it do the same', async () => {
    const before = new Langfuse({ publicKey: 'pk', secretKey: key, baseUrl: served.url, enabled: false })
    const name = 'before/this one'
    await before.createPrompt({ name, prompt: 'Hi {{name}}', labels: ['production'], config: {}, commitMessage: 'c' })
    expect((await before.getPrompt(name)).compile({ name: 'Ada' })).toBe('Hi Ada')
    const chat = await before.getPrompt('chat', undefined, { type: 'chat' })
    expect(chat.compile({ who: 'Ada' }, { history: [] })).toEqual([
      { role: 'system', content: 'You are Ada.' },
      { role: 'user', content: 'Hi, ${literal} Ada' },
    ])
    expect((await before.updatePrompt({ name, version: 1, newLabels: ['staging'] })).labels).toContain('staging')
    await before.shutdownAsync()
  })

  it('deletes', async () => {
    await langfuse.prompt.delete('page/0')
    await expect(langfuse.prompt.get('page/0', { label: 'latest', maxRetries: 0 })).rejects.toMatchObject({ statusCode: 404 })
  })

  it('lives on its cache and on fallbacks while the service is killed, and finds it again', async () => {
    const asked = { cacheTtlSeconds: 1, maxRetries: 0, fetchTimeoutMs: 5_000 }
    const cached = connect()
    expect(await cached.prompt.get('chat', { ...asked, type: 'chat' })).toMatchObject({ version: 1 })
    const { port } = new URL(served.ownUrls[0] ?? '')
    await endProcess(served.child, 'SIGKILL')
    expect(await cached.prompt.get('chat', { ...asked, type: 'chat' })).toMatchObject({ version: 1, isFallback: false })
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    expect(await cached.prompt.get('chat', { ...asked, type: 'chat' })).toMatchObject({ version: 1, isFallback: false })
    const fallback = await cached.prompt.get('page/1', { ...asked, type: 'text', fallback: 'Hello {{name}}' })
    expect([fallback.isFallback, fallback.compile({ name: 'Ada' })]).toEqual([true, 'Hello Ada'])
    await expect(cached.prompt.get('page/1', asked)).rejects.toThrow()
    served = await place.serve({ env: { PORT: port } })
    expect(await cached.prompt.get('page/1', { ...asked, label: 'latest' })).toMatchObject({ prompt: 'x', isFallback: false })
  })
})
