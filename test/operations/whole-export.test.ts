import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ADMIN_RIGHTS } from '../../src/library/actor.ts'
import { exportWholeLibrary, importWholeLibrary } from '../../src/transfer/library-folder.ts'
import { makeRichLibrary, SECRETS } from '../support/rich-library.ts'
import { readJson, type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, visit } from '../support/visitor.ts'

const OPERATOR = { kind: 'user', userId: 'operator', username: 'operator', scopes: new Set(ADMIN_RIGHTS) } as const

describe('a library that a whole export came into', () => {
  let from: TestApp
  let to: TestApp
  let folder = ''
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-whole-'))
    ;[from, to] = await Promise.all([testApp(), testApp()])
  })
  afterEach(async () => {
    await Promise.all([from.close(), to.close()])
    rmSync(folder, { recursive: true, force: true })
  })
  const invite = async (input: object) => String((await to.call(OPERATOR, 'create_invite', input))['url'])

  it('is answered from at once, though it was asked before', async () => {
    await makeRichLibrary(from.app.store)
    await exportWholeLibrary(from.app.store.transfer, join(folder, 'out'))
    const read = async (test: TestApp, path: string) => await readJson(await test.fetch(path))
    const paths = ['/api/prompts?q=walrus', '/api/prompts', '/api/categories', '/api/tags', '/api/skills']
    for (const path of paths.slice(0, 2)) expect((await read(to, path)).total, path).toBe(0)
    for (const path of paths) await to.fetch(path)
    await importWholeLibrary(to.app.store.transfer, join(folder, 'out'))
    expect((await read(to, '/api/prompts?q=walrus')).total).toBe(1)
    for (const path of paths) expect(await read(to, path), path).toEqual(await read(from, path))
    const old = await to.fetch('/prompts/quiet-walrus')
    expect([old.status, await old.text()]).toEqual([200, expect.stringContaining('Twice')])
    const everything = await to.readEverything()
    for (const [name, secret] of Object.entries(SECRETS)) expect(everything.includes(secret), name).toBe(false)
  })

  it('is claimed by its people, each by an invite under their name', async () => {
    const was = await makeRichLibrary(from.app.store)
    await exportWholeLibrary(from.app.store.transfer, join(folder, 'out'))
    await importWholeLibrary(to.app.store.transfer, join(folder, 'out'))
    const stranger = visit(to)
    const taken = await stranger.post('/sign-up', { username: 'ada', password: PASSWORD, setupCode: to.app.setupCode })
    expect(taken.html).toContain('is reserved')
    const signUp = async (url: string, username: string) => {
      const secret = new URL(url).searchParams.get('invite') ?? ''
      const visitor = visit(to)
      await visitor.post('/sign-up', { username, password: PASSWORD, invite: secret })
      return visitor
    }
    // Nobody administers it yet, whoever did where it came from.
    const ben = await signUp(await invite({ username: 'ben', role: 'admin' }), 'ben')
    expect((await ben.get('/admin/people')).status).toBe(200)
    const ada = await signUp(await invite({ username: 'ada' }), 'Ada')
    expect((await ada.get('/admin/people')).status).not.toBe(200)
    expect((await ada.get('/trash')).html).toContain('Thrown away')
    expect((await ada.get(`/prompts/${was.held.id}`)).html).toContain('A text that was held')
    const foreign = await signUp(await invite({}), 'gone')
    expect((await foreign.get('/library')).status).not.toBe(200)
  })
})
