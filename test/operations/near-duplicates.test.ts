import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createFakeEncoder } from '../support/fake-encoder.ts'
import { eventually } from '../support/model-server.ts'
import { json, readJson, rpc, type TestApp, testApp, useFreshTestApp } from '../support/test-app.ts'

const TEXT =
  'Review the pull request below. List every bug you find with its line, explain why it is wrong, suggest the smallest fix, and say which tests are missing. Ignore formatting. Answer in a table.'
/** One word differs. */
const NEARLY = TEXT.replace('table', 'list')
const OTHER = 'Plan a week of vegetarian dinners for two, with a shopping list that is sorted by aisle and a budget for each day.'

const test = useFreshTestApp()
beforeEach(async () => {
  // Each instance reads the index, as at its start: before, nothing is compared.
  for (const app of test.apps) await app.store.service.loadSearch()
})

type Person = Awaited<ReturnType<TestApp['user']>>
const save = async ({ actor }: Person, title: string, content: string, visibility = 'public') =>
  Object(await test.call(actor, 'save_prompt', { title, content, visibility }))

describe('a saved item', () => {
  it('names the public item that it nearly repeats, whoever wrote that, and nothing for other texts', async () => {
    const [ada, ben] = [await test.user('Ada'), await test.user('Ben')]
    expect(await save(ada, 'Careful reviewer', TEXT)).not.toHaveProperty('hints')
    const hint = 'Nearly the same as Careful reviewer (http://127.0.0.1:3000/prompts/careful-reviewer).'
    expect((await save(ben, 'Reviewer', NEARLY, 'private')).hints).toEqual([hint])
    expect((await save(ben, 'Again', TEXT, 'private')).hints).toEqual([expect.stringMatching(/^Nearly the same as /)])
    expect(await save(ben, 'Dinners', OTHER)).not.toHaveProperty('hints')
    expect(await save(ben, 'Short', 'Review it.')).not.toHaveProperty('hints')
  })

  it('says so over REST, beside the answer over MCP, and on the page after saving', async () => {
    await save(await test.user('Ada'), 'Careful \u202ereviewer', TEXT)
    const { key } = await test.user('Ben')
    const hint = 'Nearly the same as Careful ⟨U+202E⟩reviewer (http://127.0.0.1:3000/prompts/careful-reviewer).'
    const response = await test.fetch('/api/prompts', { ...json('POST', { title: 'One', content: NEARLY }), key })
    expect(await readJson(response)).toMatchObject({ success: true, hints: [hint] })
    const call = rpc('tools/call', { name: 'save_prompt', arguments: { title: 'Two', content: `${TEXT} Be brief.` } })
    const { result } = await readJson(await test.fetch('/api/mcp', { ...call, key }))
    expect(result.content).toHaveLength(2)
    expect(result.content[1].text).toMatch(/^Nearly the same as /)
    expect(result.structuredContent).not.toHaveProperty('hints')
  })

  it('is compared with the items its owner finds, and never with hidden items of others', async () => {
    const [ada, ben] = [await test.user('Ada'), await test.user('Ben')]
    for (const visibility of ['private', 'unlisted']) await save(ada, `Secret ${visibility}`, TEXT, visibility)
    const gone = await save(ada, 'Gone', TEXT)
    await test.call(ada.actor, 'delete_item', { collection: 'prompts', id: gone.prompt.id })
    expect(await save(ben, 'Mine', NEARLY, 'private')).not.toHaveProperty('hints')
    expect((await save(ben, 'Mine again', NEARLY, 'private')).hints).toEqual([expect.stringContaining('as Mine (')])
    // A key that may not read learns of public items alone.
    const blind = { ...ben, actor: { ...ben.actor, scopes: new Set(['write'] as const) } }
    expect(await save(blind, 'Mine once more', NEARLY, 'private')).not.toHaveProperty('hints')
    await save(ada, 'Shown', TEXT)
    expect((await save(blind, 'Mine at last', NEARLY, 'private')).hints).toEqual([expect.stringContaining('as Shown (')])
  })

  it('is saved without a word before the index is read, and when the comparison fails', async () => {
    const ada = await test.user('Ada')
    await save(ada, 'First', TEXT)
    const again = await test.reopen()
    const early = await again.call(ada.actor, 'save_prompt', { title: 'Early', content: TEXT })
    await again.close()
    expect(early).not.toHaveProperty('hints')
    const context = test.app.contextFor(ada.actor, 'rest')
    const faults: unknown[] = []
    const items = { ...context.store.items, findNearDuplicate: () => Promise.reject(new Error('broken')) }
    const operation = test.app.operations.find(({ name }) => name === 'save_prompt')
    const broken = { ...context, store: { ...context.store, items }, onFault: (error: unknown) => faults.push(error) }
    const saved = Object(await operation?.call(broken, { title: 'Saved', content: TEXT }))
    expect(saved).not.toHaveProperty('hints')
    expect(faults).toEqual([new Error('broken')])
    expect(await test.call(ada.actor, 'show_prompt', { id: saved.prompt.id })).toMatchObject({ title: 'Saved' })
  })
})

it("an item's page says which related items are nearly the same", async () => {
  const encoder = createFakeEncoder()
  const encoded = await testApp({}, {}, null, { encoder })
  onTestFinished(() => encoded.close())
  const { actor } = await encoded.user('Ada')
  for (const content of [TEXT, TEXT, OTHER]) await encoded.call(actor, 'save_prompt', { title: 'Reviewer', content, visibility: 'public' })
  const read = async () => (await encoded.fetch('/prompts/reviewer', { headers: { accept: 'text/html' } })).text()
  expect(await read()).not.toContain('(nearly the same)')
  encoded.app.itemEncoding?.start(() => {})
  expect(await eventually(async () => encoded.app.itemEncoding?.state === 'ready')).toBe(true)
  const html = await read()
  expect(html).toContain('<a href="/prompts/reviewer-2">Reviewer</a> (nearly the same)</li>')
  expect(html.match(/nearly the same/g)).toHaveLength(1)
})
