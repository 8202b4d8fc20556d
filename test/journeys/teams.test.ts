import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { findTool, installClients } from '../../scripts/setup-tools.ts'
import { signUpInBrowser, useBrowser } from '../support/browser.ts'
import { json, readJson } from '../support/test-app.ts'
import { PASSWORD } from '../support/visitor.ts'

/** A company shares a closed library: people in browsers, a client of MCP, and two real programs that install skills. */

const PROMPTS = 20
const CLIENT_MS = 120_000

describe('a team in a closed library', () => {
  const bench = useBrowser({ env: { LIBRARY_ACCESS: 'members' } })
  beforeAll(() => installClients(), 600_000)

  /** Somebody new, by an invite of the administrator. */
  async function admit(admin: Page, username: string): Promise<Page> {
    await admin.goto('/admin/invites')
    await admin.getByRole('button', { name: 'Create invite' }).click()
    const invite = /\/sign-up\?invite=[\w-]+/.exec(await admin.content())?.[0] ?? ''
    const page = await bench.newPage({ allowed: [/404/] })
    await page.goto(invite)
    await page.getByLabel('Username').fill(username)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.waitForURL('**/settings/keys?done=welcome')
    return page
  }

  /** Creates a key on the page, and gives it. */
  async function makeKey(page: Page, reach?: string): Promise<string> {
    await page.goto('/settings/keys')
    await page.getByLabel('Key name').fill(reach ?? 'Laptop')
    if (reach !== undefined) await page.getByLabel('What it sees').selectOption({ label: reach })
    await page.getByRole('button', { name: 'Create key' }).click()
    const text = await page.locator('.new-key pre').first().textContent()
    return /cpb_\w+/.exec(text ?? '')?.[0] ?? ''
  }

  const ask = async (key: string, path: string, options: RequestInit = {}) =>
    await readJson(
      await fetch(bench.baseUrl + path, { ...options, headers: { 'content-type': 'application/json', ...(key && { 'x-api-key': key }) } }),
    )
  const skill = (name: string) => ({
    title: name,
    owner: 'crew',
    files: [{ filename: 'SKILL.md', content: `---\nname: ${name}\ndescription: What ${name} does\n---\n\nDo it.\n` }],
  })

  /** Runs an installed program in a home folder of its own. */
  async function runClient(home: string, program: string, ...args: string[]): Promise<number> {
    const work = join(home, 'work')
    mkdirSync(work, { recursive: true })
    const env = { PATH: process.env['PATH'], HOME: home, CI: '1', DISABLE_TELEMETRY: '1', NO_COLOR: '1' }
    const child = spawn(findTool(`.bin/${program}`, 'clients'), args, { cwd: work, env, stdio: 'ignore', timeout: CLIENT_MS })
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve(code ?? 1))
    })
  }
  const listFolder = (path: string) => (existsSync(path) ? readdirSync(path).toSorted() : [])

  it('shares, edits, restores, installs, and keeps everything when somebody leaves', async () => {
    const ann = await bench.newPage()
    await signUpInBrowser(ann, 'ann')
    const stranger = await bench.newPage({ allowed: [/401/] })
    await stranger.goto('/prompts')
    await stranger.getByRole('button', { name: 'Sign in' }).waitFor()
    expect((await fetch(`${bench.baseUrl}/api/prompts`)).status).toBe(401)

    const ben = await admit(ann, 'ben')
    const cleo = await admit(ann, 'cleo')
    await ann.goto('/teams')
    await ann.getByLabel('Name', { exact: true }).fill('crew')
    await ann.getByRole('button', { name: 'Create team' }).click()
    for (const name of ['ben', 'cleo']) {
      await ann.goto('/teams/crew')
      await ann.getByLabel('Username').fill(name)
      await ann.getByLabel('Role', { exact: true }).selectOption('editor')
      await ann.getByRole('button', { name: 'Add', exact: true }).click()
      await ann.getByText(name, { exact: true }).waitFor()
    }

    await ann.goto('/new?owner=crew')
    await ann.getByLabel('Title').fill('Answer 1')
    await ann.getByLabel('Text', { exact: true }).fill('Walrus 1')
    await ann.getByRole('button', { name: 'Save', exact: true }).click()
    await ann.getByText('Team crew').waitFor()
    const annsKey = await makeKey(ann)
    for (let n = 2; n <= PROMPTS; n++) {
      await ask(annsKey, '/api/prompts', json('POST', { title: `Answer ${n}`, content: `Walrus ${n}`, owner: 'crew' }))
    }
    await ben.goto('/library?owner=crew')
    await ben.getByRole('heading', { name: `${PROMPTS} prompts` }).waitFor()

    const bensKey = await makeKey(ben)
    const client = new Client({ name: 'editor', version: '1' })
    const url = new URL(`${bench.baseUrl}/api/mcp`)
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { 'x-api-key': bensKey } } }))
    const found = await client.callTool({ name: 'search_prompts', arguments: { query: 'Answer 7' } })
    const [first] = Object(found.structuredContent).prompts
    expect(first).toMatchObject({ title: 'Answer 7', author: 'ann' })
    const changed = await client.callTool({ name: 'update_prompt', arguments: { id: first.id, content: 'Changed over MCP' } })
    expect(changed.isError ?? false).toBe(false)
    await client.close()

    await cleo.goto(new URL(first.url).pathname)
    await cleo.getByText('Changed over MCP').first().waitFor()
    await cleo.goto(`${new URL(first.url).pathname}/versions/1`)
    await cleo.getByRole('button', { name: 'Restore this version' }).click()
    await cleo.waitForURL('**?done=version-restored')
    const restored = await ask(annsKey, `/api/prompts/${first.id}`)
    expect([restored.content, restored.versions.map(({ author }: { author: string }) => author)]).toEqual([
      'Walrus 7',
      ['cleo', 'ben', 'ann'],
    ])

    await ask(annsKey, '/api/skills', json('POST', skill('inside')))
    const outside = await ask(annsKey, '/api/skills', json('POST', skill('outside')))
    const { collection } = await ask(annsKey, '/api/collections', json('POST', { title: 'For all', owner: 'crew' }))
    const { skills } = await ask(annsKey, '/api/skills?q=inside')
    await ask(annsKey, `/api/collections/${collection.id}/items`, json('POST', { items: [skills[0].id, first.id] }))
    const scope = `/collections/${collection.slug}`
    const link = await ask(annsKey, '/api/install-links', json('POST', { name: 'crew', scope }))
    const npx = join(bench.place.folder, 'npx')
    expect(await runClient(npx, 'skills', 'add', link.url, '-y', '-a', 'claude-code')).toBe(0)
    expect(listFolder(join(npx, 'work', '.claude', 'skills'))).toEqual(['inside'])
    const claude = join(bench.place.folder, 'claude')
    expect(await runClient(claude, 'claude', 'plugin', 'marketplace', 'add', `${link.url}.git`)).toBe(0)
    expect(await runClient(claude, 'claude', 'plugin', 'install', `inside@127-0-0-1-collections-${collection.slug}`)).toBe(0)
    const kept = join(claude, '.claude', 'plugins', 'cache')
    const files = readdirSync(kept, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('SKILL.md'))
    expect(files.map((path) => readFileSync(join(kept, path), 'utf8'))).toEqual([expect.stringContaining('name: inside')])

    const narrow = await makeKey(ann, 'The collection “For all” alone')
    const seen = await ask(narrow, '/api/prompts')
    expect([seen.total, seen.prompts.map(({ title }: { title: string }) => title)]).toEqual([1, ['Answer 7']])
    expect((await ask(narrow, '/api/skills')).total).toBe(1)
    expect((await ask(narrow, `/api/skills/${outside.skill.id}`)).error).toBe('not_found')
    const near = await ask(narrow, '/api/prompts?q=walrus+12')
    expect(near.prompts.every(({ title }: { title: string }) => title === 'Answer 7')).toBe(true)

    const cleosKey = await makeKey(cleo)
    await cleo.goto('/teams/crew')
    await cleo.locator('summary', { hasText: 'Leave' }).click()
    await cleo.getByRole('button', { name: 'Leave', exact: true }).last().click()
    await cleo.waitForURL('**/teams?done=*')
    expect((await ask(cleosKey, '/api/prompts')).total).toBe(0)
    expect((await ask(cleosKey, `/api/prompts/${first.id}`)).error).toBe('not_found')
    const left = await ask(bensKey, '/api/prompts?author=crew&perPage=100')
    expect(left.total).toBe(PROMPTS)
    const versions = await ask(bensKey, `/api/prompts/${first.id}/versions`)
    expect(versions.versions).toHaveLength(3)
    expect((await bench.place.commonplace(['doctor'])).code).toBe(0)
  }, 300_000)
})
