import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { DEFAULT_QUOTA } from '../../src/domain/people/usage.ts'
import { showAccount } from '../../src/operations/account/account.ts'
import { json, readJson, type TestApp, testApp } from '../support/test-app.ts'

/** Words that no other text has. */
const uniqueWords = (count: number) =>
  Array.from({ length: count }, (_, index) => createHash('md5').update(`${index}`).digest('hex')).join(' ')

describe('the quota of an owner', () => {
  let test: TestApp | undefined
  afterEach(() => test?.close())

  const open = async (quota: Partial<typeof DEFAULT_QUOTA>, settings: Parameters<typeof testApp>[0] = {}) => {
    test = await testApp({ QUOTA_PER_OWNER: { ...DEFAULT_QUOTA, ...quota }, ...settings }, {}, null, { instances: 1 })
    const { key, actor } = await test.user('Ada')
    const { fetch } = test
    return { test, actor, post: (path: string, body: unknown) => fetch(path, { ...json('POST', body), key }) }
  }

  it('refuses with 413 what is too much, and only that', async () => {
    const { test, actor, post } = await open({ items: 3 })
    const prompts = Array.from({ length: 5 }, (_, index) => ({ title: `Number ${index}`, content: 'Text' }))
    const { saved, results } = await readJson(await post('/api/prompts/batch', { prompts }))
    expect([saved, results[3].error]).toEqual([3, 'too_large'])
    const refused = await post('/api/prompts', prompts[4])
    expect(refused.status).toBe(413)
    expect((await readJson(refused)).message).toMatch(
      /may keep 3 items and has room for 0 items more\. Delete for good .* QUOTA_PER_OWNER\.$/,
    )
    const { keeps } = await showAccount.call(test.app.contextFor({ ...actor, scopes: new Set(['account']) }, 'web'), {})
    expect(keeps).toContainEqual({ part: 'items', used: 3, limit: 3 })
  })

  it('holds for what somebody is given, too', async () => {
    const { test, actor, post } = await open({ items: 1 })
    const { prompt } = await readJson(await post('/api/prompts', { title: 'Given', content: 'Text' }))
    const ben = await test.user('Ben')
    await test.call(ben.actor, 'create_team', { team: 'crew' })
    await test.call(ben.actor, 'set_team_member', { team: 'crew', username: actor.username, role: 'editor' })
    await test.call(ben.actor, 'save_prompt', { title: 'Own', content: 'Text', owner: 'crew' })
    const given = { collection: 'prompts', id: prompt.id, to: 'crew' }
    await expect(test.call(actor, 'transfer_item', given)).rejects.toMatchObject({ code: 'too_large' })
  })

  it('says in the answer how many words search passes over', async () => {
    const { post } = await open({ words: 50 })
    const { hints } = await readJson(await post('/api/prompts', { title: 'Many', content: uniqueWords(90) }))
    expect(hints).toEqual([expect.stringMatching(/^Search does not find this by 4\d of its words/)])
  })

  it('charges words that nobody had before after the call', async () => {
    const { post } = await open({}, { RATE_LIMITS: 100 })
    const save = (content: string) => post('/api/prompts', { title: 'Many', content })
    expect((await save(uniqueWords(3000))).status).toBe(201)
    expect((await save('short')).status).toBe(429)
  })
})
