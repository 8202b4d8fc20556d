import { describe, expect, it } from 'vitest'
import { ENGLISH } from '../../src/web/strings/index.ts'
import { useTestApp } from '../support/test-app.ts'

describe('the search of the documents', () => {
  const test = useTestApp()
  const find = async (query: string) => {
    const answer = await test.fetch(`/docs?${new URLSearchParams({ q: query })}`, { headers: { accept: 'text/html' } })
    expect(answer.status).toBe(200)
    const html = await answer.text()
    return { html, links: [...html.matchAll(/<h3><a href="([^"]+)">/g)].map(([, link]) => link ?? '') }
  }

  it.each([
    ['restoring a backup', /^\/docs\/backup#/],
    ['cursor', '/docs/connect#cursor'],
    ['RATE_LIMITS', /^\/docs\/(settings|self-hosting)#?/],
    ['default of a variable', /^\/docs\/variables/],
  ])('finds where %s is described', async (query, expected) => {
    const { links } = await find(query)
    expect(links.slice(0, 3)).toEqual(expect.arrayContaining([expected instanceof RegExp ? expect.stringMatching(expected) : expected]))
  })

  it('leads to sections that are there, words marked', async () => {
    const { html, links } = await find('reverse proxy')
    expect(html).toContain('<mark>')
    expect(links.length).toBeGreaterThan(1)
    expect(links.length).toBeLessThanOrEqual(20)
    for (const link of links) {
      const [path = '', id] = link.split('#')
      const page = await (await test.fetch(path, { headers: { accept: 'text/html' } })).text()
      if (id !== undefined) expect(page, link).toContain(` id="${id}"`)
    }
  })

  it('says when nothing is found, and takes whatever is asked', async () => {
    expect((await find('xqzwvk')).html).toContain(ENGLISH.nothingFound)
    for (const query of ['<script>alert(1)</script>', '((((', 'a'.repeat(5_000), '\u0000', '文']) {
      expect((await find(query)).html).not.toContain('<script>alert')
    }
    expect((await find('   ')).links).toEqual([])
  })
})
