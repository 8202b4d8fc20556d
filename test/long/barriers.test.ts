import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { lookForBarriers, signUpInBrowser, useBrowser, VIEWPORTS } from '../support/browser.ts'
import { addressesOfPages, SHOWN_TEAM } from '../support/page-addresses.ts'

describe('pages, to readers who cannot see them or use a mouse', () => {
  const bench = useBrowser({ args: ['--starter'] })
  const items = { prompt: '', skill: '', collection: 'set', user: 'Ada' }
  beforeAll(async () => {
    const key = await bench.createKey('Ada')
    const tags = Array.from({ length: 10 }, (_, index) => `tag ${index}`)
    const prompt = { title: '把一封信写得短一些', content: 'Dear ${name}, about ${topic:the weather}.', category: 'writing', tags }
    items.prompt = (await bench.save(key, 'prompt', prompt)).slug
    const files = [
      { filename: 'SKILL.md', content: '---\nname: tidy\ndescription: Tidy up.\n---\n# Tidy\n\n1. Look.\n2. `rm`\n' },
      { filename: 'scripts/tidy.py', content: 'print("tidy")\n' },
    ]
    items.skill = (await bench.save(key, 'skill', { title: 'Tidy', description: 'Tidy up.', files, tags })).slug
    await makeCollection(key, 'Set', [items.prompt, items.skill])
  })

  const makeCollection = async (key: string, title: string, held: readonly string[]) => {
    const send = async (path: string, body: object) => {
      const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
      expect((await fetch(bench.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })).ok).toBe(true)
    }
    await send('/api/collections', { title, description: 'A prompt and a skill.', visibility: 'public' })
    await send(`/api/collections/${title.toLowerCase()}/items`, { items: held })
  }

  const MORE = [
    '/prompts?q=letter&category=writing',
    '/skills?q=nothing-like-this',
    '/prompts?page=0',
    '/connect?client=cursor&access=key',
    '/connect?client=codex&access=sign-in',
    '/nothing-here',
  ]
  /** Where a page stood when it was looked at: what leads to the same place is looked at once. */
  const lookAt = async (page: Page, addresses: readonly string[]) => {
    const found: string[] = []
    const seen = new Set<string>()
    for (const address of addresses) {
      await page.setViewportSize(VIEWPORTS.desktop)
      await page.goto(address)
      // Pages for readers who are signed in all lead others to one that asks for it.
      const { pathname, search } = new URL(page.url())
      const place = pathname === '/sign-in' ? pathname : pathname + search
      if (seen.has(place)) continue
      seen.add(place)
      found.push(...(await lookForBarriers(page, place)))
    }
    return { found, seen }
  }

  it('have no barriers, in both themes, on a desktop and on a phone', async () => {
    const page = await bench.newPage({ allowed: [/status of 40[04]/] })
    const { found, seen } = await lookAt(page, [...addressesOfPages(items).map((one) => one.address), ...MORE])
    expect(found).toEqual([])
    expect(seen.size).toBeGreaterThan(20)
  }, 600_000)

  it('have none for who is signed in either', async () => {
    const page = await bench.newPage({ allowed: [/status of 40[034]/] })
    await signUpInBrowser(page, 'grace')
    const key = await bench.createKey('grace')
    const common = { title: 'Looked at', visibility: 'private' }
    const { slug: prompt } = await bench.save(key, 'prompt', { ...common, content: 'Text of ${name}.' })
    const { slug: skill } = await bench.save(key, 'skill', { ...common, files: [{ filename: 'SKILL.md', content: '# Looked at\n' }] })
    await makeCollection(key, 'Looked', [prompt, skill])
    await page.goto('/teams')
    await page.getByLabel('Name', { exact: true }).fill(SHOWN_TEAM)
    await page.getByRole('button', { name: 'Create team' }).click()
    await page.waitForURL(`**/teams/${SHOWN_TEAM}?done=team-created`)
    await page.goto('/settings/access')
    await page.getByText('New key', { exact: true }).click()
    await page.getByLabel('Key name').fill('Looked at')
    await page.getByRole('button', { name: 'Create key' }).click()
    const newKey = await lookForBarriers(page, 'a key just made')
    await page.setViewportSize(VIEWPORTS.desktop)
    await page.goto('/connect?client=cursor&access=key')
    newKey.push(...(await lookForBarriers(page, 'the form for a key')))
    await page.getByRole('button', { name: 'Create a key and fill it in' }).click()
    newKey.push(...(await lookForBarriers(page, 'a key made beside the clients')))
    // The documents are the same for everybody.
    const addresses = addressesOfPages({ prompt, skill, collection: 'looked', user: 'grace' }).map((one) => one.address)
    const { found, seen } = await lookAt(
      page,
      addresses.filter((address) => !address.startsWith('/docs')),
    )
    expect([...newKey, ...found]).toEqual([])
    expect(seen.size).toBeGreaterThan(20)
  }, 600_000)
})
