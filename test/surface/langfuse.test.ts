import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type TestApp, useFreshTestApp } from '../support/test-app.ts'

const PATH = '/api/public/v2/prompts'

/** The answers of Langfuse's definition (fern/apis/server/definition/prompts.yml), and nothing else. */
const common = {
  id: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  projectId: z.string().min(1),
  createdBy: z.string().min(1),
  name: z.string(),
  version: z.number().int().min(1),
  config: z.record(z.string(), z.unknown()),
  labels: z.array(z.string()),
  tags: z.array(z.string()),
  commitMessage: z.string().nullable(),
  isActive: z.boolean(),
  resolutionGraph: z.null(),
}
const chatItem = z.union([
  z.strictObject({ role: z.string(), content: z.string(), type: z.literal('chatmessage') }),
  z.strictObject({ type: z.literal('placeholder'), name: z.string() }),
])
const promptAnswer = z.discriminatedUnion('type', [
  z.strictObject({ ...common, type: z.literal('text'), prompt: z.string() }),
  z.strictObject({ ...common, type: z.literal('chat'), prompt: z.array(chatItem) }),
])
const listAnswer = z.strictObject({
  data: z.array(
    z.strictObject({
      name: z.string(),
      type: z.enum(['text', 'chat']),
      versions: z.array(z.number().int()),
      labels: z.array(z.string()),
      tags: z.array(z.string()),
      lastUpdatedAt: z.iso.datetime(),
      lastConfig: z.record(z.string(), z.unknown()),
    }),
  ),
  meta: z.strictObject({ page: z.number(), limit: z.number(), totalItems: z.number(), totalPages: z.number() }),
})
const errorAnswer = z.strictObject({ message: z.string(), error: z.string() })
const issuesAnswer = z.strictObject({
  message: z.literal('Invalid request data'),
  error: z.array(z.strictObject({ code: z.string(), path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1),
})

const test = useFreshTestApp()

/** A client of Langfuse with these keys, whose every answer is held to its shape. */
function client(secretKey: string | null, publicKey = 'pk-lf-anything: really') {
  const authorization = `Basic ${Buffer.from(`${publicKey.replaceAll(':', '')}:${secretKey}`).toString('base64')}`
  const send = async (method: string, path: string, body?: unknown) => {
    const headers = {
      ...(secretKey !== null && { authorization }),
      'content-type': 'application/json',
      'x-langfuse-sdk-name': 'javascript',
    }
    const response = await test.fetch(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
  const read = async <T>(schema: z.ZodType<T>, status: number, ...request: Parameters<typeof send>): Promise<T> => {
    const answer = await send(...request)
    expect([answer.status, answer.status === status ? '' : answer.text]).toEqual([status, ''])
    return schema.parse(JSON.parse(answer.text))
  }
  const at = (name: string, query: Record<string, unknown> = {}) => {
    const search = new URLSearchParams(Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]))
    return `${PATH}/${encodeURIComponent(name)}${search.size > 0 ? `?${search}` : ''}`
  }
  return {
    send,
    create: (body: object) => read(promptAnswer, 201, 'POST', PATH, body),
    get: (name: string, query?: object) => read(promptAnswer, 200, 'GET', at(name, { ...query })),
    list: (query = '') => read(listAnswer, 200, 'GET', PATH + query),
    label: (name: string, version: number, newLabels: unknown) =>
      read(promptAnswer, 200, 'PATCH', `${at(name)}/versions/${version}`, { newLabels }),
    delete: (name: string, query?: object) => send('DELETE', at(name, { ...query })),
    /** The status and body of a refusal. */
    async refused(method: string, path: string, body?: unknown) {
      const { status, text } = await send(method, path, body)
      return [status, z.union([errorAnswer, issuesAnswer]).parse(JSON.parse(text))] as const
    },
    refusedGet: async (name: string, query?: object) => {
      const { status, text } = await send('GET', at(name, { ...query }))
      return [status, errorAnswer.parse(JSON.parse(text))] as const
    },
  }
}
type Client = ReturnType<typeof client>

const user = async (name: string, scopes?: Parameters<TestApp['user']>[1]): Promise<Client> => client((await test.user(name, scopes)).key)

describe('a prompt by the API of Langfuse', () => {
  it('is given with its parts, unless it is asked for as it is written', async () => {
    const ada = await user('ada')
    await ada.create({ name: 'tone', prompt: 'Be kind to {{name}}.', labels: ['production'] })
    const prompt = '@@@langfusePrompt:name=tone|label=production@@@ Hi {{name}}.'
    await ada.create({ name: 'whole', prompt, labels: ['production'] })
    expect(await ada.get('whole')).toMatchObject({ prompt: 'Be kind to {{name}}. Hi {{name}}.' })
    expect(await ada.get('whole', { resolve: false })).toMatchObject({ prompt })
  })

  it('is read as it was written, version by version', async () => {
    const ada = await user('ada')
    const text = 'Hi {{ name }}, pay ${{amount}} or ${x} \\{{y}} @@@langfusePrompt:name=tone|label=production@@@'
    await ada.create({ name: 'tone', prompt: 'kind', labels: ['production'] })
    const first = await ada.create({
      name: 'team a/Greeting é?',
      type: 'text',
      prompt: text,
      config: { model: 'm', temperature: 0 },
      labels: ['production', 'latest'],
      tags: ['greetings', 'new'],
      commitMessage: 'c'.repeat(500),
    })
    expect(first).toMatchObject({ name: 'team a/Greeting é?', version: 1, type: 'text', prompt: text, createdBy: 'ada', projectId: 'ada' })
    expect(first).toMatchObject({ labels: ['production', 'latest'], tags: ['greetings', 'new'], isActive: true })
    expect(first).toMatchObject({ config: { model: 'm', temperature: 0 }, commitMessage: 'c'.repeat(500) })
    expect(await ada.get(first.name, { resolve: false })).toEqual(first)

    const second = await ada.create({ name: first.name, prompt: text })
    expect(second).toMatchObject({ version: 2, config: {}, labels: ['latest'], tags: first.tags, commitMessage: null, isActive: false })
    expect(await ada.get(first.name, { resolve: false })).toEqual({ ...first, labels: ['production'] })
    expect(await ada.get(first.name, { label: 'latest', resolve: false })).toEqual(second)
    expect(await ada.get(first.name, { version: 2, resolve: false })).toEqual(second)
    expect(await ada.create({ name: first.name, prompt: 'x', tags: [], labels: ['production'] })).toMatchObject({ version: 3, tags: [] })
    expect((await ada.get(first.name)).version).toBe(3)

    const { actor } = await test.user('ada')
    const { prompts } = Object(await test.call(actor, 'list_prompts', {}))
    expect(prompts).toContainEqual(expect.objectContaining({ title: first.name, visibility: 'private' }))
  })

  it('may be a chat with placeholders', async () => {
    const ada = await user('ada')
    const prompt = [
      { type: 'chatmessage', role: 'system', content: 'Be {{tone}}.' },
      { type: 'placeholder', name: 'history' },
      { type: 'chatmessage', role: 'user', content: '' },
    ]
    const chat = await ada.create({ name: 'chat', type: 'chat', prompt, labels: ['production'] })
    expect(chat).toMatchObject({ type: 'chat', prompt })
    expect(await ada.get('chat')).toEqual(chat)
    const { prompt: bare } = await ada.create({ name: 'bare', type: 'chat', prompt: [{ role: 'user', content: 'x' }] })
    expect(bare).toEqual([{ type: 'chatmessage', role: 'user', content: 'x' }])
    expect((await ada.list('?name=chat')).data).toMatchObject([{ name: 'chat', type: 'chat' }])
  })

  it('that was written here has its variables in braces, and their defaults in the config', async () => {
    const { actor, key } = await test.user('ada')
    const { prompt } = Object(
      await test.call(actor, 'save_prompt', { title: 'T', content: '${tone:formal} ${name}', config: { model: 'm' } }),
    )
    const ada = client(key)
    const read = { type: 'text', prompt: '{{tone}} {{name}}', config: { variables: { tone: 'formal' }, model: 'm' } }
    expect(await ada.get(prompt.slug, { label: 'latest' })).toMatchObject({ name: prompt.slug, ...read })
    expect(await ada.get(prompt.id, { version: 1 })).toMatchObject(read)
    await test.call(actor, 'update_prompt', { id: prompt.id, config: { variables: 1 } })
    expect((await ada.get(prompt.slug, { label: 'latest' })).config).toEqual({ variables: 1 })
    expect(await ada.create({ name: prompt.slug, prompt: 'next' })).toMatchObject({ version: 3, name: prompt.slug })
  })

  it('has labels, which one version has at a time', async () => {
    const ada = await user('ada')
    await ada.create({ name: 'p', prompt: '1', labels: ['production', 'staging'] })
    await ada.create({ name: 'p', prompt: '2' })
    expect((await ada.label('p', 2, ['production', 'beta'])).labels.toSorted()).toEqual(['beta', 'latest', 'production'])
    expect((await ada.label('p', 2, ['gamma'])).labels.toSorted()).toEqual(['beta', 'gamma', 'latest', 'production'])
    expect((await ada.label('p', 1, [])).labels).toEqual(['staging'])
    expect((await ada.get('p')).version).toBe(2)
    expect(await ada.refused('PATCH', `${PATH}/p/versions/1`, { newLabels: ['latest'] })).toMatchObject([
      400,
      { error: [{ path: ['newLabels', 0] }] },
    ])
    expect(await ada.refused('PATCH', `${PATH}/p/versions/3`, { newLabels: ['x'] })).toEqual([
      404,
      { message: "Prompt not found: 'p' with version 3", error: 'LangfuseNotFoundError' },
    ])
    // Of versions that share a label, the one of the largest share.
    const { actor } = await test.user('ada')
    const { prompts } = Object(await test.call(actor, 'list_prompts', {}))
    const targets = [
      { version: 1, weight: 60 },
      { version: 2, weight: 40 },
    ]
    await test.call(actor, 'set_label', { collection: 'prompts', id: prompts[0].id, label: 'production', targets })
    expect((await ada.get('p')).version).toBe(1)
  })

  it('goes to the trash as a whole; keys delete no single version', async () => {
    const { actor, key } = await test.user('ada')
    const ada = client(key)
    const { id } = await ada.create({ name: 'a b', prompt: '1', labels: ['production'] })
    for (const query of [{ version: 1 }, { label: 'production' }]) expect((await ada.delete('a b', query)).status).toBe(403)
    expect((await ada.delete('a b', { version: 1, label: 'production' })).status).toBe(400)
    expect((await ada.delete('a b', { version: 9 })).status).toBe(404)
    expect(await ada.delete('a b')).toMatchObject({ status: 204, text: '' })
    expect((await ada.refusedGet('a b'))[0]).toBe(404)
    expect((await ada.delete('a b')).status).toBe(404)
    // Its name is free; what comes back while somebody else has it is known by its slug.
    expect((await ada.create({ name: 'a b', prompt: '2', labels: ['production'] })).version).toBe(1)
    await test.call(actor, 'restore_item', { collection: 'prompts', id: id.split('@')[0] })
    expect((await ada.get('a b')).prompt).toBe('2')
    expect((await ada.list()).data.map(({ name }) => name)).toHaveLength(2)
  })
})

describe('the list', () => {
  it('has pages by name, and the versions that pass its filters', async () => {
    const ada = await user('ada')
    for (let number = 1; number <= 12; number++) {
      await ada.create({ name: `p/${String(number).padStart(2, '0')}`, prompt: 'x', tags: number % 2 ? ['odd'] : [] })
    }
    const second = await ada.create({ name: 'p/01', prompt: 'y', labels: ['production'], config: { a: 1 } })
    const third = await ada.create({ name: 'p/01', prompt: 'z', config: { a: 2 } })
    const page = await ada.list()
    expect(page.meta).toEqual({ page: 1, limit: 10, totalItems: 12, totalPages: 2 })
    expect(page.data.map(({ name }) => name)).toEqual(Array.from({ length: 10 }, (_, index) => `p/${String(index + 1).padStart(2, '0')}`))
    expect(page.data[0]).toEqual({
      name: 'p/01',
      type: 'text',
      versions: [1, 2, 3],
      labels: ['production', 'latest'],
      tags: ['odd'],
      lastUpdatedAt: third.updatedAt,
      lastConfig: { a: 2 },
    })
    expect((await ada.list('?page=2')).data.map(({ name }) => name)).toEqual(['p/11', 'p/12'])
    expect((await ada.list('?page=3&limit=100')).data).toEqual([])
    const production = { versions: [2], labels: ['production'], lastConfig: { a: 1 }, lastUpdatedAt: second.updatedAt }
    expect(await ada.list('?label=production')).toMatchObject({ data: [production], meta: { totalItems: 1 } })
    expect((await ada.list('?label=latest&name=p%2F01')).data).toMatchObject([{ versions: [3], labels: ['latest'] }])
    expect((await ada.list('?tag=odd&limit=1')).meta).toMatchObject({ totalItems: 6, totalPages: 6 })
    expect((await ada.list(`?fromUpdatedAt=${second.updatedAt}`)).data).toMatchObject([{ versions: [2, 3] }])
    expect((await ada.list(`?fromUpdatedAt=${second.updatedAt}&toUpdatedAt=${third.updatedAt}`)).data).toMatchObject([{ versions: [2] }])
    for (const query of ['page=0', 'limit=101', 'limit=x', 'fromUpdatedAt=yesterday']) {
      const [status, body] = await ada.refused('GET', `${PATH}?${query}`)
      expect([status, issuesAnswer.parse(body).error[0]?.path]).toEqual([400, [query.split('=')[0]]])
    }
  })
})

describe('a refusal', () => {
  it('has the shape and the sentence of Langfuse', async () => {
    const ada = await user('ada')
    const missing = (message: string) => [404, { message, error: 'LangfuseNotFoundError' }]
    expect(await ada.refusedGet('a/b')).toEqual(missing("Prompt not found: 'a/b' with label 'production'"))
    expect(await ada.refusedGet('p', { version: 7 })).toEqual(missing("Prompt not found: 'p' with version 7"))
    await ada.create({ name: 'p', prompt: 'Hi {{x}}' })
    expect(await ada.refusedGet('p')).toEqual(missing("Prompt not found: 'p' with label 'production'"))
    expect(await ada.refusedGet('p', { label: 'x' })).toEqual(missing("Prompt not found: 'p' with label 'x'"))
    expect(await ada.refusedGet('p', { label: 'x', version: 1 })).toMatchObject([400, { error: 'InvalidRequestError' }])
    expect(await ada.refused('POST', PATH, { name: 'p', type: 'chat', prompt: [{ role: 'user', content: 'x' }] })).toMatchObject([
      400,
      { error: 'InvalidRequestError' },
    ])
    expect(await ada.refused('PUT', PATH, {})).toMatchObject([405, { error: 'MethodNotAllowedError' }])
    expect((await ada.list()).data).toHaveLength(1)
  })

  it.each([
    [{ prompt: 'x' }, ['name']],
    [{ name: 'a|b', prompt: 'x' }, ['name']],
    [{ name: '/a', prompt: 'x' }, ['name']],
    [{ name: 'new', prompt: 'x' }, ['name']],
    [{ name: 'n'.repeat(256), prompt: 'x' }, ['name']],
    [{ name: 'a' }, ['prompt']],
    [{ name: 'a', prompt: '' }, ['prompt']],
    [{ name: 'a', prompt: [{ role: 'user', content: 'x' }] }, ['prompt']],
    [{ name: 'a', type: 'image', prompt: 'x' }, ['type']],
    [{ name: 'a', type: 'chat', prompt: 'x' }, ['prompt']],
    [{ name: 'a', type: 'chat', prompt: [] }, ['prompt']],
    [{ name: 'a', type: 'chat', prompt: [{ role: 'tool', content: 'x' }] }, ['prompt', 0, 'role']],
    [
      {
        name: 'a',
        type: 'chat',
        prompt: [
          { role: 'user', content: '{{x}}' },
          { type: 'placeholder', name: 'x' },
        ],
      },
      ['prompt', 1, 'name'],
    ],
    [{ name: 'a', prompt: 'x', labels: ['Not this'] }, ['labels', 0]],
    [{ name: 'a', prompt: 'x', commitMessage: 'c'.repeat(501) }, ['commitMessage']],
    [{ name: 'a', prompt: 'x', config: [] }, ['config']],
  ])('names what is wrong with %j', async (body, path) => {
    const ada = await user('ada')
    const [status, answer] = await ada.refused('POST', PATH, body)
    expect([status, issuesAnswer.parse(answer).error[0]?.path]).toEqual([400, path])
    expect((await ada.list()).data).toEqual([])
  })

  it('of one of two who create at once is a conflict, and nothing is written twice', async () => {
    const ada = await user('ada')
    const both = (prompt: string) => ada.send('POST', PATH, { name: 'race', prompt, labels: ['production'] })
    const answers = await Promise.all([both('1'), both('2')])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409])
    const { text } = answers.find(({ status }) => status === 409) ?? { text: '' }
    expect(errorAnswer.parse(JSON.parse(text)).error).toBe('LangfuseConflictError')
    expect((await ada.list()).data).toMatchObject([{ name: 'race', versions: [1] }])
  })
})

describe('keys', () => {
  it('come as the password of HTTP Basic, or as everywhere', async () => {
    const { key } = await test.user('ada')
    await client(key, '').create({ name: 'p', prompt: 'x', labels: ['production'] })
    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }]) {
      expect((await test.fetch(`${PATH}/p`, { headers })).status).toBe(200)
    }
    for (const secret of ['sk-lf-wrong', `${key.slice(0, -1)}x`]) {
      const { status, text, headers } = await client(secret).send('GET', `${PATH}/p`)
      expect([status, errorAnswer.parse(JSON.parse(text)).error]).toEqual([401, 'UnauthorizedError'])
      expect(headers.get('www-authenticate')).toMatch(/^Basic /)
    }
    const anonymous = client(null)
    expect((await anonymous.send('GET', PATH)).status).toBe(401)
    expect((await anonymous.send('POST', PATH, {})).status).toBe(401)
    expect((await anonymous.refusedGet('p'))[0]).toBe(404)
    const basic = { authorization: `Basic ${Buffer.from(`x:${key}`).toString('base64')}` }
    expect(await (await test.fetch('/api/trash', { headers: basic })).json()).toMatchObject({ error: 'unauthenticated' })
  })

  it('do what their scopes say', async () => {
    const ada = await user('ada')
    await ada.create({ name: 'p', prompt: 'x', labels: ['production'] })
    const reader = await user('ada', ['read'])
    expect((await reader.get('p')).version).toBe(1)
    for (const [method, path, body] of [
      ['POST', PATH, { name: 'q', prompt: 'x' }],
      ['PATCH', `${PATH}/p/versions/1`, { newLabels: ['x'] }],
      ['DELETE', `${PATH}/p`, undefined],
    ] as const) {
      expect(await reader.refused(method, path, body)).toMatchObject([403, { error: 'ForbiddenError' }])
    }
    const writer = await user('ada', ['write'])
    expect(await writer.refused('POST', PATH, { name: 'blind', prompt: 'y' })).toMatchObject([403, { error: 'ForbiddenError' }])
    expect((await writer.refusedGet('p'))[0]).toBe(404)
    expect((await writer.delete('p')).status).toBe(404)
  })

  it('reach what is their owner’s and their teams’, and elsewhere what they see', async () => {
    const { actor } = await test.user('ada')
    const [ada, ben] = [await user('ada'), await user('ben')]
    await test.call(actor, 'create_team', { team: 'crew' })
    await test.call(actor, 'set_team_member', { team: 'crew', username: 'ben', role: 'editor' })
    const signedIn = { ...actor, scopes: new Set([...actor.scopes, 'account' as const]) }
    const { key } = await test.call(signedIn, 'create_key', { name: 'narrowed', team: 'crew' })
    const crew = client(String(key))
    expect(await crew.create({ name: 'shared', prompt: '1', labels: ['production'] })).toMatchObject({
      projectId: 'crew',
      createdBy: 'ada',
    })
    expect(await ben.create({ name: 'shared', prompt: '2' })).toMatchObject({ projectId: 'crew', version: 2, createdBy: 'ben' })
    await ben.create({ name: 'mine', prompt: 'x', labels: ['production'] })
    await ada.create({ name: 'mine', prompt: 'of ada', labels: ['production'] })
    expect((await ada.get('mine')).prompt).toBe('of ada')
    expect((await crew.refusedGet('mine'))[0]).toBe(404)
    const names = async (one: Client) => (await one.list()).data.map(({ name }) => name)
    expect([await names(ada), await names(ben), await names(crew)]).toEqual([['mine', 'shared'], ['mine', 'shared'], ['shared']])

    // A protected label is for maintainers: nothing of what an editor sends with it is written.
    await test.call(signedIn, 'set_label_rule', { owner: 'crew', name: 'production', isProtected: true })
    expect((await ben.refused('POST', PATH, { name: 'shared', prompt: '3', labels: ['staging', 'production'] }))[0]).toBe(403)
    expect((await ben.refused('PATCH', `${PATH}/shared/versions/2`, { newLabels: ['staging', 'production'] }))[0]).toBe(403)
    expect((await ben.list('?name=shared')).data).toMatchObject([{ versions: [1, 2], labels: ['production', 'latest'] }])
    expect((await ben.delete('shared')).status).toBe(403)

    const stranger = await user('zoe')
    expect((await stranger.refusedGet('shared'))[0]).toBe(404)
    const { prompt } = Object(await test.call(actor, 'save_prompt', { title: 'Open', content: 'open', isPrivate: false }))
    expect(await stranger.get(prompt.slug, { label: 'latest' })).toMatchObject({ prompt: 'open', projectId: 'ada' })
    expect((await stranger.refused('PATCH', `${PATH}/${prompt.slug}/versions/1`, { newLabels: ['x'] }))[0]).toBe(403)
    expect(await names(stranger)).toEqual([])
    // A prompt of their own under the name of somebody else's.
    expect(await stranger.create({ name: prompt.slug, prompt: 'mine' })).toMatchObject({ version: 1, projectId: 'zoe' })
    expect((await stranger.get(prompt.slug, { label: 'latest' })).prompt).toBe('mine')
  })
})
