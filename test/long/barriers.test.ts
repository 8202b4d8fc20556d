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
    const send = async (path: string, body: object) => {
      const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
      expect((await fetch(bench.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })).ok).toBe(true)
    }
    await send('/api/collections', { title: 'Set', description: 'A prompt and a skill.', visibility: 'public' })
    await send('/api/collections/set/items', { items: [items.prompt, items.skill] })
  })

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
    await page.goto('/new')
    await page.getByLabel('Title').fill('Looked at')
    await page.getByLabel('Text', { exact: true }).fill('Text of ${name}.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/prompts/**')
    const prompt = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await page.goto('/new/skill')
    await page.getByLabel('Title').fill('Looked at')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/edit?done=saved')
    const skill = new URL(page.url()).pathname.split('/')[2] ?? ''
    await page.goto('/teams')
    await page.getByLabel('Name', { exact: true }).fill(SHOWN_TEAM)
    await page.getByRole('button', { name: 'Create team' }).click()
    await page.waitForURL(`**/teams/${SHOWN_TEAM}?done=team-created`)
    await page.goto('/collections')
    await page.getByText('New collection').click()
    await page.getByLabel('Title').fill('Looked at')
    await page.getByRole('button', { name: 'Create collection' }).click()
    await page.waitForURL('**/collections/**')
    const collection = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    for (const item of [`/prompts/${prompt}`, `/skills/${skill}`]) {
      await page.goto(`${item}/collections`)
      await page.getByRole('button', { name: 'Add to Looked at' }).click()
      await page.getByText('Added to the collection.').waitFor()
    }
    await page.goto('/settings/keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const newKey = await lookForBarriers(page, 'a key just made')
    await page.setViewportSize(VIEWPORTS.desktop)
    await page.goto('/connect?client=cursor&access=key')
    newKey.push(...(await lookForBarriers(page, 'the form for a key')))
    await page.getByRole('button', { name: 'Create a key and fill it in' }).click()
    newKey.push(...(await lookForBarriers(page, 'a key made beside the clients')))
    // The documents are the same for everybody.
    const addresses = addressesOfPages({ prompt, skill, collection, user: 'grace' }).map((one) => one.address)
    const { found, seen } = await lookAt(
      page,
      addresses.filter((address) => !address.startsWith('/docs')),
    )
    expect([...newKey, ...found]).toEqual([])
    expect(seen.size).toBeGreaterThan(20)
  }, 600_000)
})
