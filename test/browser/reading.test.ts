import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../support/browser.ts'

const CONTENT = 'Write to ${name} about ${topic:the weather}.'

describe('a reader in a browser', () => {
  const bench = useBrowser()
  let letter = ''
  let table = ''
  beforeAll(async () => {
    const key = await bench.createKey('Ada')
    letter = `/prompts/${(await bench.save(key, 'prompt', { title: 'Letter', content: CONTENT })).slug}`
    table = `/prompts/${(await bench.save(key, 'prompt', { title: 'Table', content: '|a|b|c|\n|-|:-:|-:|\n|1|2|3|' })).slug}`
    await bench.save(key, 'prompt', { title: 'Kaleidoscope maker', content: 'Builds kaleidoscopes' })
  })

  it('comes to the content with the first key, and sees where they are', async () => {
    const page = await bench.newPage()
    await page.goto('/')
    const skip = page.locator('a.skip')
    await page.keyboard.press('Tab')
    expect(await skip.evaluate((link) => link === document.activeElement)).toBe(true)
    expect((await skip.boundingBox())?.x).toBeGreaterThanOrEqual(0)
    expect(await outlineOf(page)).toMatch(/^solid [1-9]/)
    await page.keyboard.press('Enter')
    expect(new URL(page.url()).hash).toBe('#content')
    // The next key goes on inside of the content, and whatever has the focus shows it.
    for (let count = 0; count < 5; count++) {
      await page.keyboard.press('Tab')
      expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
      expect(await outlineOf(page)).toMatch(/^solid [1-9]/)
    }
  })

  it('fills in a prompt as they type, and takes a copy of it', async () => {
    const page = await bench.newPage()
    await page.goto(letter)
    await page.getByLabel('name').fill('Ada & <b>Bob</b>')
    await expect.poll(() => page.locator('[data-text]').textContent()).toBe('Write to Ada & <b>Bob</b> about the weather.')
    await page.getByLabel('topic').fill('tea')
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await expect.poll(() => page.getByRole('button', { name: 'Copied' }).count()).toBe(1)
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('Write to Ada & <b>Bob</b> about tea.')
    expect(new URL(page.url()).search).toBe('')
  })

  it('fills in a prompt without a script', async () => {
    const page = await bench.newPage({ hasScript: false })
    await page.goto(letter)
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
    await page.getByLabel('name').fill('Ada & <b>Bob</b>')
    await page.getByRole('button', { name: 'Apply' }).click()
    expect(await page.locator('[data-text]').textContent()).toBe('Write to Ada & <b>Bob</b> about the weather.')
    const { pathname, search } = new URL(page.url())
    expect([pathname, search]).toEqual([`${letter}/fill`, ''])
    // Another view keeps what was filled in.
    await page.getByRole('button', { name: 'Preview' }).click()
    expect(await page.locator('.written').textContent()).toBe('Write to Ada & <b>Bob</b> about the weather.\n')
    expect(await page.getByLabel('name').inputValue()).toBe('Ada & <b>Bob</b>')
  })

  it.each([true, false])('keeps the lines of a value (with a script: %s)', async (hasScript) => {
    const page = await bench.newPage({ hasScript })
    await page.goto(letter)
    const commits = 'feat: one\nfix: two\n\tchore: three'
    const field = page.getByLabel('name')
    const height = async () => (await field.boundingBox())?.height ?? 0
    const before = await height()
    if (hasScript) {
      await page.evaluate((text) => navigator.clipboard.writeText(text), commits)
      await field.focus()
      await page.keyboard.press('Control+V')
    } else await field.fill(commits)
    expect(await field.inputValue()).toBe(commits)
    // The field is as high as its value.
    expect(await height()).toBeGreaterThan(before * 2)
    if (hasScript) await page.keyboard.press('Control+Enter')
    else await page.getByRole('button', { name: 'Apply' }).click()
    const filled = `Write to ${commits} about the weather.`
    await expect.poll(() => page.locator('[data-text]').textContent()).toBe(filled)
    if (hasScript) await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(filled)
  })

  it('copies and opens a prompt with its defaults before anything is typed', async () => {
    const page = await bench.newPage()
    for (const address of [letter, `${letter}?view=rendered`]) {
      await page.goto(address)
      await page.getByRole('button', { name: 'Copy' }).first().click()
      const copied = 'Write to ${name} about the weather.'
      await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(copied)
      const link = page.getByRole('link', { name: 'Open in ChatGPT' })
      expect(new URL((await link.getAttribute('href')) ?? '').searchParams.get('q')).toBe(copied)
      expect(await page.getByRole('button', { name: 'Apply' }).count()).toBe(0)
      await page.evaluate(() => navigator.clipboard.writeText(''))
    }
  })

  it('sees control characters as marks that reorder nothing, and copies them as they are', async () => {
    const content = 'if (user \u202e!== admin) ${name:a\u202eb}'
    const key = await bench.createKey('Ada')
    const { slug } = await bench.save(key, 'prompt', { title: 'Pay\u202e\u2066// admin\u2069\u2067e\u202cnd', content })
    const page = await bench.newPage()
    await page.goto(`/prompts/${slug}`)
    const marks = page.locator('h1 bdi, [data-text] bdi')
    const written = await marks.evaluateAll((all) => all.map((mark) => getComputedStyle(mark, '::before').content))
    expect(written).toEqual(['202E 2066', '2069 2067', '202C', '202E', '202E'].map((name) => `"⟨U+${name}⟩"`))
    // Every letter stands after the one before it, whatever was opened or closed between them.
    const lefts = await page.locator('h1').evaluate((title) =>
      [...title.childNodes].flatMap((node) =>
        node.nodeType !== Node.TEXT_NODE
          ? []
          : Array.from({ length: node.textContent?.length ?? 0 }, (_, at) => {
              const range = document.createRange()
              range.setStart(node, at)
              range.setEnd(node, at + 1)
              return range.getBoundingClientRect().left
            }),
      ),
    )
    expect(lefts).toEqual(lefts.toSorted((one, other) => one - other))
    expect(new Set(lefts).size).toBe('Pay// adminend'.length)
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('if (user \u202e!== admin) a\u202eb')
    // What somebody types is shown by the same rule.
    await page.getByLabel('name').fill('c\u200ed')
    await expect.poll(() => page.locator('[data-text] mark bdi').getAttribute('data-controls')).toBe('200E')
  })

  it('finds as they type, at an address they can keep', async () => {
    const page = await bench.newPage()
    await page.goto('/prompts')
    await page.getByRole('searchbox', { name: 'Search prompts', exact: true }).pressSequentially('kaleido')
    await page.waitForURL('**/prompts?q=kaleido')
    expect(await page.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['Kaleidoscope maker'])
    expect(
      await page.getByRole('searchbox', { name: 'Search prompts', exact: true }).evaluate((field) => field === document.activeElement),
    ).toBe(true)
    await page.reload()
    expect(await page.getByRole('searchbox', { name: 'Search prompts', exact: true }).inputValue()).toBe('kaleido')
    expect(await page.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['Kaleidoscope maker'])
  })

  it('reads what was found in first words, on the darker ground too', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await bench.newPage({ theme })
      await page.goto('/prompts?q=kaleidoscopes')
      const mark = page.locator('.first-words mark')
      expect(await mark.textContent()).toBe('kaleidoscopes')
      expect(await contrastOf(mark), theme).toBeGreaterThanOrEqual(4.5)
    }
  })

  it('finds aligned columns in a table', async () => {
    const page = await bench.newPage()
    await page.goto(`${table}?view=rendered`)
    const sides = await page.locator('td').evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).textAlign))
    expect(sides).toEqual(['left', 'center', 'right'])
  })

  it('takes a copy of an example in the documents', async () => {
    const page = await bench.newPage()
    await page.goto('/docs/connect')
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain(`commonplace ${bench.baseUrl}/api/mcp --header`)
  })
})

/** Style and width of the outline of what has the focus. */
async function outlineOf(page: Page): Promise<string> {
  return await page.evaluate(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement ?? document.body)
    return `${outlineStyle} ${outlineWidth}`
  })
}

/** Contrast of an element's text against its own background (WCAG 2.2, "contrast ratio"). */
async function contrastOf(element: Locator): Promise<number> {
  return await element.evaluate((node) => {
    const luminance = (color: string) => {
      const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
        const share = Number(part) / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const { color, backgroundColor } = getComputedStyle(node)
    const [light = 0, dark = 0] = [luminance(color), luminance(backgroundColor)].toSorted((a, b) => b - a)
    return (light + 0.05) / (dark + 0.05)
  })
}
