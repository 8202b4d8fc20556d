import type { Page, Request } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { lookForBarriers, signUpInBrowser, useBrowser, VIEWPORTS } from '../support/browser.ts'

const TEXT = 'Write to ${name} about ${topic:the weather}. '

describe('a reader who looks for something, in a browser', () => {
  const bench = useBrowser()
  beforeAll(async () => {
    const key = await bench.createKey('Ada')
    for (let n = 0; n < 60; n++) {
      const category = n % 2 ? 'coding' : 'editing'
      await bench.save(key, 'prompt', { title: `Letter ${n}`, content: TEXT.repeat(8), category, tags: [`tag ${n % 4}`] })
    }
    await bench.save(key, 'prompt', { title: 'Kaleidoscope maker', content: 'Builds kaleidoscopes' })
    await bench.save(key, 'prompt', {
      title: 'مراجعة الشيفرة',
      content: `\`\`\`\nx\n\`\`\`\n${`\${a:${'x'.repeat(10_000)}} `.repeat(3)}`,
      tags: ['rtl'],
    })
    const files = [{ filename: 'SKILL.md', content: '# Kaleidoscopes' }]
    await bench.save(key, 'skill', { title: 'Kaleidoscope keeping', files })
  })

  const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim())
  const readClipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())
  const palette = (page: Page) => page.getByRole('dialog')
  const options = (page: Page) => palette(page).getByRole('option')

  it('comes to the search field with one key, unless they are typing', async () => {
    const page = await bench.newPage()
    await page.goto('/docs')
    const field = page.getByRole('searchbox', { name: 'Search the library' })
    await page.keyboard.press('/')
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)
    // In a field, keys are letters.
    await page.keyboard.type('a/b?jk')
    expect([await field.inputValue(), await palette(page).count()]).toEqual(['a/b?jk', 0])
    await field.fill('kaleido')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/search?q=kaleido')
    expect(await page.getByRole('link', { name: 'Prompts 1' }).count()).toBe(1)
    expect(await page.getByRole('link', { name: 'Skills 1' }).count()).toBe(1)
    // On a list, the field is the one of the list.
    await page.goto('/prompts')
    await page.keyboard.press('/')
    expect(
      await page.getByRole('searchbox', { name: 'Search prompts', exact: true }).evaluate((one) => one === document.activeElement),
    ).toBe(true)
    for (const combination of ['Control+/', 'Alt+j', 'Control+j']) {
      await page.locator('h1').click()
      await page.keyboard.press(combination)
      expect(await page.evaluate(() => document.activeElement === document.body), combination).toBe(true)
    }
  })

  it('goes anywhere from the palette', async () => {
    const page = await bench.newPage()
    await page.goto('/docs')
    await page.locator('h1').click()
    await page.keyboard.press('Control+k')
    // What is typed at once is not lost.
    await page.keyboard.type('kaleido')
    const field = palette(page).getByRole('combobox')
    expect(await field.inputValue()).toBe('kaleido')
    await expect
      .poll(() => options(page).allTextContents())
      .toEqual(
        expect.arrayContaining([
          expect.stringContaining('Kaleidoscope maker'),
          expect.stringContaining('Kaleidoscope keeping'),
          'Search for “kaleido”',
        ]),
      )
    const selected = () => palette(page).getByRole('option', { selected: true }).textContent()
    expect(await selected()).toContain('Kaleidoscope maker')
    expect(await field.getAttribute('aria-activedescendant')).toBe(
      await palette(page).getByRole('option', { selected: true }).getAttribute('id'),
    )
    await page.keyboard.press('ArrowDown')
    expect(await selected()).toContain('Kaleidoscope keeping')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    expect(await selected()).toBe('Search for “kaleido”')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/prompts/kaleidoscope-maker')
    // A prompt is copied without opening it.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('letter 7')
    await expect.poll(() => options(page).first().textContent()).toContain('Letter')
    await page.keyboard.press('Control+Enter')
    await expect.poll(() => readClipboard(page)).toContain('about the weather.')
    expect([new URL(page.url()).pathname, await palette(page).count()]).toEqual(['/prompts/kaleidoscope-maker', 0])
    // Pages and actions, which Escape leaves alone.
    await page.keyboard.press('Meta+k')
    await page.keyboard.type('conn')
    await expect.poll(() => options(page).first().textContent()).toBe('Connect')
    await page.keyboard.press('Escape')
    expect(await palette(page).count()).toBe(0)
    await page.keyboard.press('Control+K')
    await expect.poll(() => options(page).allTextContents()).toEqual(expect.arrayContaining(['Sign in', 'Skills']))
    expect(await options(page).filter({ hasText: 'New prompt' }).count()).toBe(0)
  })

  it('sees the hits of the last query alone, and asks for no more than what is typed', async () => {
    const page = await bench.newPage()
    await page.goto('/docs')
    await page.keyboard.press('Control+k')
    await expect.poll(() => options(page).count()).toBeGreaterThan(3)
    const asked: string[] = []
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/search?q=*', async (route) => {
      const q = new URL(route.request().url()).searchParams.get('q') ?? ''
      asked.push(q)
      if (q === 'letter') await held
      await route.continue().catch(() => {})
    })
    await palette(page).getByRole('combobox').fill('letter')
    await expect.poll(() => asked).toEqual(['letter'])
    const aborted = page.waitForEvent('requestfailed')
    await palette(page).getByRole('combobox').fill('kaleidoscope')
    expect(new URL((await aborted).url()).searchParams.get('q')).toBe('letter')
    release()
    await expect.poll(() => options(page).first().textContent()).toContain('Kaleidoscope')
    expect(asked).toEqual(['letter', 'kaleidoscope'])
    expect(await options(page).filter({ hasText: 'Letter' }).count()).toBe(0)
  })

  it('walks through rows by keys, copies, votes and edits', async () => {
    const page = await bench.newPage({ allowed: [/status of 403/] })
    await signUpInBrowser(page, 'grace')
    await page.goto('/new')
    await page.getByLabel('Title').fill('Of grace')
    await page.getByLabel('Text', { exact: true }).fill(TEXT)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/prompts/of-grace*')
    const own = new URL(page.url()).pathname
    await page.goto('/prompts')
    const titles = await page.getByRole('heading', { level: 3 }).allTextContents()
    for (const place of [0, 1, 2]) {
      await page.keyboard.press('j')
      expect(await focused(page)).toBe(titles[place])
    }
    await page.keyboard.press('k')
    await page.keyboard.press('k')
    expect(await focused(page)).toBe('Of grace')
    await page.keyboard.press('c')
    await expect.poll(() => readClipboard(page)).toBe('Write to ${name} about the weather. ')
    await expect.poll(() => page.locator('.toast').textContent()).toBe('Copied')
    await page.keyboard.press('v')
    await expect.poll(() => page.locator('.toast').textContent()).toBe('Upvoted')
    await page.reload()
    expect(await page.locator('li', { hasText: 'Of grace' }).getByText('1 vote').count()).toBe(1)
    await page.keyboard.press('j')
    await page.keyboard.press('v')
    await expect.poll(() => page.locator('.toast').textContent()).toBe('Vote removed')
    await page.keyboard.press('e')
    await page.waitForURL(`**${own}/edit`)
    // The menu of somebody who is signed in.
    await page.goto('/docs')
    await page.locator('header').getByText('grace', { exact: true }).click()
    expect(await page.getByRole('link', { name: 'Administration' }).isVisible()).toBe(true)
    await page.getByText('New', { exact: true }).click()
    expect(await page.getByRole('link', { name: 'Administration' }).isVisible()).toBe(false)
    await page.keyboard.press('Escape')
    expect(await page.getByRole('link', { name: 'New prompt' }).isVisible()).toBe(false)
    for (const width of [320, 1024, 1100]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth), String(width)).toBe(width)
    }
    await page.setViewportSize(VIEWPORTS.desktop)
    // A theme from the palette holds at once, and on the next page.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('theme: dark')
    await expect.poll(() => options(page).first().textContent()).toBe('Theme: dark')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
    await page.goto('/prompts')
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await page.locator('header').getByText('grace', { exact: true }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/?done=signed-out')
  })

  it('copies from a row with the mouse, by a button that shows on hover and focus', async () => {
    const page = await bench.newPage()
    await page.goto('/prompts?q=letter')
    const row = page.locator('li[data-row]').nth(1)
    const button = row.getByRole('button', { name: /^Copy: Letter/ })
    const opacity = () => button.evaluate((one) => getComputedStyle(one).opacity)
    expect(await opacity()).toBe('0')
    await row.hover()
    expect(await opacity()).toBe('1')
    await page.mouse.move(0, 0)
    await row.getByRole('link').first().focus()
    expect(await opacity()).toBe('1')
    await button.click()
    await expect.poll(() => readClipboard(page)).toBe('Write to ${name} about the weather. '.repeat(8))
    // Rows that come while typing have one, too, and their age.
    await page.getByRole('searchbox', { name: 'Search prompts', exact: true }).fill('kaleido')
    await page.waitForURL('**/prompts?q=kaleido')
    expect(await page.getByRole('button', { name: 'Copy: Kaleidoscope maker' }).count()).toBe(1)
    expect(await page.locator('li[data-row] time').textContent()).toMatch(/now|ago/)
  })

  it('learns the keys, and can turn the single ones off', async () => {
    const page = await bench.newPage()
    await page.goto('/prompts')
    await page.keyboard.press('?')
    await palette(page).getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await lookForBarriers(page, 'shortcuts')).toEqual([])
    await palette(page).getByLabel('Use single-key shortcuts').uncheck()
    await palette(page).getByRole('button', { name: 'Close' }).click()
    for (const key of ['j', '/', '?']) await page.keyboard.press(key)
    expect(await page.evaluate(() => document.activeElement?.closest('li, form') === null)).toBe(true)
    await page.reload()
    await page.keyboard.press('j')
    expect(await page.evaluate(() => document.activeElement?.closest('li') === null)).toBe(true)
    await page.goto('/search')
    await page.getByLabel('Use single-key shortcuts').check()
    await page.goto('/prompts')
    await page.keyboard.press('j')
    expect(await focused(page)).toBe(await page.getByRole('heading', { level: 3 }).first().textContent())
  })

  it('loads a list with few bytes, the font included, and sees its head at every width', async () => {
    const page = await bench.newPage()
    const requests: Request[] = []
    page.on('request', (request) => requests.push(request))
    await page.goto('/prompts', { waitUntil: 'networkidle' })
    const sizes = await Promise.all(requests.map((request) => request.sizes()))
    const bytes = sizes.reduce((sum, { responseBodySize, responseHeadersSize }) => sum + responseBodySize + responseHeadersSize, 0)
    expect(requests.map((request) => new URL(request.url()).pathname.split('/').at(-1))).toEqual(
      expect.arrayContaining(['prompts', 'find.js']),
    )
    expect(bytes).toBeGreaterThan(50_000)
    expect(bytes).toBeLessThanOrEqual(70 * 1024)
    for (const width of [320, 390, 768, 1023, 1024, 1100, 1440]) {
      await page.setViewportSize({ width, height: 800 })
      const [wide, height] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.querySelector('header.top')?.getBoundingClientRect().height ?? 0,
      ])
      expect([wide, Math.round(height ?? 0)], String(width)).toEqual([width, 57])
    }
  })

  it('sees eight rows at once, with facts on one line, ages, and blanks by name', async () => {
    const page = await bench.newPage()
    await page.goto('/prompts')
    const rows = page.locator('.rows > li')
    const shown = await rows.evaluateAll((all) => all.filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length)
    expect(shown).toBeGreaterThanOrEqual(8)
    const row = rows.nth(2)
    const facts = await row.locator('.facts > li').evaluateAll((all) => new Set(all.map((fact) => fact.getBoundingClientRect().y)).size)
    expect(facts).toBe(1)
    expect(await row.locator('.facts').textContent()).toContain('2 blanks')
    expect(await row.locator('.first-words .chip').first().textContent()).toBe('name')
    const time = row.locator('time')
    expect([await time.textContent(), await time.getAttribute('title')]).toEqual([
      expect.stringMatching(/^(?:now|\d+ \w+ ago)$/),
      expect.stringMatching(/\d{4}, \d+:\d\d/),
    ])
    // Filters are in the margin, each labelled, and narrow what is there.
    const filter = page.getByRole('list', { name: 'Category' }).getByRole('link', { name: /^Coding/ })
    expect((await filter.boundingBox())?.x).toBeLessThan((await row.boundingBox())?.x ?? 0)
    expect(await filter.textContent()).toBe('Coding 30')
    await filter.click()
    expect(await page.getByRole('heading', { level: 2 }).first().textContent()).toBe('30 prompts')
    // Pages by number, and none beyond the last.
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Page 2 of 2' }).click()
    await page.waitForURL('**/prompts?category=coding&page=2')
    await page.goto('/prompts?page=999')
    expect(new URL(page.url()).search).toBe('?page=3')
    expect(await page.getByRole('link', { name: 'Page 3 of 3' }).getAttribute('aria-current')).toBe('page')
  })

  it('has one row of head and large targets on a phone', async () => {
    const page = await bench.newPage({ viewport: 'phone' })
    await page.goto('/prompts?category=coding')
    expect((await page.locator('header.top').boundingBox())?.height).toBeLessThanOrEqual(64)
    const filter = page.getByText('Filter (1)')
    expect(await page.getByRole('link', { name: 'Clear filters' }).isVisible()).toBe(false)
    await filter.click()
    expect(await page.getByRole('link', { name: 'Clear filters' }).isVisible()).toBe(true)
    await page.getByText('Menu', { exact: true }).click()
    expect(await page.getByRole('link', { name: 'Docs' }).isVisible()).toBe(true)
    const targets = 'header :is(nav a, summary, input), .narrowing :is(summary, .filters a), .sorts a, .rows :is(h3 a, .facts a), .pages a'
    const small = await page
      .locator(targets)
      .evaluateAll((all) =>
        all.flatMap((one) => (one.getBoundingClientRect().height < 44 ? [`${one.textContent} ${one.getBoundingClientRect().height}`] : [])),
      )
    expect(small).toEqual([])
    // A title in another direction begins at its own side, beside facts that do not.
    await page.goto('/prompts?q=%D9%85%D8%B1%D8%A7%D8%AC%D8%B9%D8%A9')
    const sides = await page.locator('.rows h3 a').evaluate((title) => {
      const range = document.createRange()
      range.selectNodeContents(title)
      const text = range.getBoundingClientRect()
      return [Math.round(text.right), Math.round(title.closest('li')?.getBoundingClientRect().right ?? 0)]
    })
    expect(sides[0]).toBe(sides[1])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  })

  it('needs no script', async () => {
    const page = await bench.newPage({ hasScript: false })
    await page.goto('/docs')
    await page.getByRole('searchbox', { name: 'Search the library' }).fill('kaleidoscope')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/search?q=kaleidoscope')
    await page.getByRole('link', { name: 'Skills 1' }).click()
    await page.waitForURL('**/skills?q=kaleidoscope')
    await page.goto('/prompts')
    expect(await page.locator('li[data-row] time').first().textContent()).toMatch(/^\w{3} \d+, \d{4}$/)
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
    await page
      .getByRole('list', { name: 'Tags' })
      .getByRole('link', { name: /^tag 1/ })
      .click()
    expect(await page.getByRole('heading', { level: 2 }).first().textContent()).toBe('15 prompts')
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.waitForURL('**/prompts?page=2')
    const phone = await bench.newPage({ hasScript: false, viewport: 'phone' })
    await phone.goto('/prompts')
    await phone.getByText('Menu', { exact: true }).click()
    await phone.getByRole('link', { name: 'Skills' }).click()
    await phone.waitForURL('**/skills')
  })

  it('finds no barriers in what opens: palette, menu, filters', async () => {
    const page = await bench.newPage()
    await page.goto('/prompts?category=coding')
    await page.evaluate(() => {
      for (const one of document.querySelectorAll('details')) one.open = true
    })
    expect(await lookForBarriers(page, 'list with everything open')).toEqual([])
    await page.goto('/search?q=kaleidoscope')
    expect(await lookForBarriers(page, 'results')).toEqual([])
    await page.keyboard.press('Control+k')
    await page.keyboard.type('letter')
    await expect.poll(() => options(page).count()).toBeGreaterThan(5)
    expect(await lookForBarriers(page, 'palette')).toEqual([])
  }, 120_000)
})
