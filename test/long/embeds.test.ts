import { describe, expect, it } from 'vitest'
import { EMBED_EXAMPLES } from '../../src/domain/embed/config.ts'
import { writeEmbedQuery } from '../../src/web/embed/addresses.ts'
import { parseContext, parseTools } from '../../src/web/embed/fields.ts'
import { lookForBarriers, useBrowser } from '../support/browser.ts'

describe('embeds', () => {
  const bench = useBrowser()

  it.each([true, false])('show every example as its label promises, alike in both themes (with a script: %s)', async (hasScript) => {
    const trees = new Map<string, string>()
    for (const theme of ['light', 'dark'] as const) {
      const page = await bench.newPage({ theme, hasScript })
      for (const { value, config } of EMBED_EXAMPLES) {
        await page.goto(`/embed?${writeEmbedQuery({ ...config, themeMode: 'auto' })}`)
        const main = page.locator('main')
        const tree = await main.ariaSnapshot()
        expect(trees.get(value) ?? tree, value).toBe(tree)
        trees.set(value, tree)
        expect(await page.locator('.prompt').innerText(), value).toBe(config.prompt)
        const text = (await main.innerText()).replaceAll('\n', ' ')
        for (const { label } of parseContext(config.context ?? '').shown) expect(text, value).toContain(label)
        for (const { server, tool } of parseTools(config.mcpTools ?? '').shown) expect(text, value).toContain(`${server}:${tool}`)
        expect(text, value).toContain(config.model)
        expect(await page.locator('.tree').count(), value).toBe(config.showFiletree ? 1 : 0)
        expect(await page.locator('.diff').count(), value).toBe(config.showDiff ? 1 : 0)
        expect(await page.locator('.flash').count(), value).toBe(config.flashButton ? 1 : 0)
        const send = await page.evaluate("getComputedStyle(document.querySelector('.send')).backgroundColor")
        const color = (theme === 'light' ? config.lightColor : config.darkColor) ?? ''
        expect(send, value).toBe(`rgb(${[1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)).join(', ')})`)
      }
    }
    if (hasScript) expect(Object.fromEntries(trees)).toMatchSnapshot('accessibility trees')
    expect(trees.size).toBe(EMBED_EXAMPLES.length)
  })

  it('have no barriers, in both themes, on a desktop and on a phone', async () => {
    const page = await bench.newPage({ allowed: [/status of 404/] })
    const found: string[] = []
    for (const { value, config } of EMBED_EXAMPLES) {
      await page.goto(`/embed?${writeEmbedQuery({ ...config, themeMode: 'auto' })}`)
      found.push(...(await lookForBarriers(page, value)))
    }
    for (const address of [
      '/embed',
      '/embed/nothing',
      `/embed?prompt=${'x'.repeat(500)}&context=${'y'.repeat(300)}&model=${'z'.repeat(100)}`,
    ]) {
      await page.goto(address)
      found.push(...(await lookForBarriers(page, address.slice(0, 20))))
    }
    expect(found).toEqual([])
  })
})
