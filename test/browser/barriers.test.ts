import { beforeAll, describe, expect, it } from 'vitest'
import { lookForBarriers, useBrowser, VIEWPORTS } from '../support/browser.ts'
import { addressesOfPages } from '../support/page-addresses.ts'

/** One style that the API reference writes as a text of HTML, which the policy rightly stops; nothing is seen of it. */
const STYLE_OF_REFERENCE = /\/api-reference\.js: Applying inline style violates .* style attributes/

describe('pages, to readers who cannot see them or use a mouse', () => {
  const bench = useBrowser({ args: ['--starter'] })
  const items = { prompt: '', skill: '', user: 'Ada' }
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
  })

  const MORE = ['/prompts?q=letter&category=writing', '/skills?q=nothing-like-this', '/prompts?page=0', '/nothing-here']
  it('have no barriers, in both themes, on a desktop and on a phone', async () => {
    const page = await bench.newPage({ allowed: [/status of 40[04]/, STYLE_OF_REFERENCE] })
    const found: string[] = []
    const seen = new Set<string>()
    for (const address of [...addressesOfPages(items).map((one) => one.address), ...MORE]) {
      await page.setViewportSize(VIEWPORTS.desktop)
      await page.goto(address)
      // Pages for readers who are signed in all lead to one that asks for it.
      const { pathname, search } = new URL(page.url())
      const place = pathname === '/sign-in' ? pathname : pathname + search
      if (seen.has(place)) continue
      seen.add(place)
      found.push(...(await lookForBarriers(page, place)))
    }
    expect(found).toEqual([])
    expect(seen.size).toBeGreaterThan(20)
  }, 300_000)
})
