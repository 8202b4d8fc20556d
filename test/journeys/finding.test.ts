import type { Page, Request } from 'playwright-core'
import { expect, it } from 'vitest'
import { expectCopied, useSharedService, VIEWPORTS } from '../support/browser.ts'

const bench = useSharedService()
const TEXT = 'Write to ${name} about ${topic:the weather}. '
/** The list that has only what this journey saved. */
const LIST = '/prompts?tag=kite'

const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim())
const isFocused = (page: Page, selector: string) => page.evaluate((one) => document.activeElement?.matches(one), selector)
const palette = (page: Page) => page.getByRole('dialog')
const options = (page: Page) => palette(page).getByRole('option')
const toast = (page: Page) => expect.poll(() => page.locator('.toast').textContent())
/** Style and width of the outline of what has the focus. */
const outlineOf = (page: Page) =>
  page.evaluate(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement ?? document.body)
    return `${outlineStyle} ${outlineWidth}`
  })

it('a reader searches as they type, by palette and keys, and narrows lists on a desktop and a phone', async () => {
  const key = await bench.createKey('fred')
  const tags = (n: number) => ['kite', `kite ${n % 4}`]
  const letters = Array.from({ length: 60 }, (_, n) => n)
  for (const n of letters) {
    const category = n % 2 ? 'coding' : 'editing'
    await bench.save(key, 'prompt', { title: `Kite letter ${n}`, content: TEXT.repeat(8), category, tags: tags(n) })
  }
  await bench.save(key, 'prompt', { title: 'Kaleidoscope maker', content: 'Builds kaleidoscopes' })
  await bench.save(key, 'skill', { title: 'Kaleidoscope keeping', files: [{ filename: 'SKILL.md', content: '# Kaleidoscopes' }] })
  const page = await bench.newMember('grace', { allowed: [/status of 403/] })

  // The first key leads to the content, and whatever has the focus shows it.
  await page.goto('/')
  await page.keyboard.press('Tab')
  expect(await isFocused(page, 'a.skip')).toBe(true)
  expect((await page.locator('a.skip').boundingBox())?.x).toBeGreaterThanOrEqual(0)
  expect(await outlineOf(page)).toMatch(/^solid [1-9]/)
  await page.keyboard.press('Enter')
  expect(new URL(page.url()).hash).toBe('#content')
  for (let count = 0; count < 3; count++) {
    await page.keyboard.press('Tab')
    expect(await isFocused(page, 'main *')).toBe(true)
    expect(await outlineOf(page)).toMatch(/^solid [1-9]/)
  }

  // One key leads to the search field, unless they are typing.
  await page.goto('/embeds')
  const field = page.getByRole('searchbox', { name: 'Search the library' })
  await page.keyboard.press('/')
  await page.keyboard.type('a/b?jk')
  expect([await field.inputValue(), await palette(page).count()]).toEqual(['a/b?jk', 0])
  await field.fill('kaleido')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/search?q=kaleido')
  expect([await page.getByRole('link', { name: 'Prompts 1' }).count(), await page.getByRole('link', { name: 'Skills 1' }).count()]).toEqual(
    [1, 1],
  )
  for (const combination of ['Control+/', 'Alt+j', 'Control+j']) {
    await page.locator('body').click({ position: { x: 1, y: 400 } })
    await page.keyboard.press(combination)
    expect(await isFocused(page, 'body'), combination).toBe(true)
  }

  // A list is searched as they type, at an address they can keep.
  await page.goto('/prompts')
  await page.keyboard.press('/')
  await page.keyboard.type('kaleidoscopes')
  await page.waitForURL('**/prompts?q=kaleidoscopes')
  const titles = page.getByRole('heading', { level: 3 })
  await expect.poll(() => titles.allTextContents()).toEqual(['Kaleidoscope maker'])
  expect(await isFocused(page, '[type=search][aria-label="Search prompts"]')).toBe(true)
  await page.keyboard.press('ArrowDown')
  expect(await focused(page)).toBe('Kaleidoscope maker')
  await page.reload()
  expect(await titles.allTextContents()).toEqual(['Kaleidoscope maker'])
  // Rows that came while typing have their button and their age, and what was found is marked, to be read in both themes.
  const mark = page.locator('.first-words mark')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await mark.textContent()).toBe('kaleidoscopes')
    expect(await mark.evaluate(contrastOf), colorScheme).toBeGreaterThanOrEqual(4.5)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await page.getByRole('button', { name: 'Copy: Kaleidoscope maker' }).count()).toBe(1)
  expect(await page.locator('li[data-row] time').textContent()).toMatch(/now|ago/)

  // The palette goes anywhere, and loses nothing that is typed at once.
  await page.goto('/docs')
  await page.locator('h1').click()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('kaleido')
  const box = palette(page).getByRole('combobox')
  expect(await box.inputValue()).toBe('kaleido')
  const [maker, keeping] = [expect.stringContaining('Kaleidoscope maker'), expect.stringContaining('Kaleidoscope keeping')]
  await expect.poll(() => options(page).allTextContents()).toEqual(expect.arrayContaining([maker, keeping, 'Search for “kaleido”']))
  const selected = palette(page).getByRole('option', { selected: true })
  expect(await selected.textContent()).toContain('Kaleidoscope maker')
  expect(await box.getAttribute('aria-activedescendant')).toBe(await selected.getAttribute('id'))
  await page.keyboard.press('ArrowDown')
  expect(await selected.textContent()).toContain('Kaleidoscope keeping')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  expect(await selected.textContent()).toBe('Search for “kaleido”')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/prompts/kaleidoscope-maker')
  // A prompt is copied without opening it; pages and actions are there, and Escape leaves all alone.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('kite letter 7')
  await expect.poll(() => options(page).first().textContent()).toContain('Kite letter')
  await page.keyboard.press('Control+Enter')
  await expectCopied(page).toContain('about the weather.')
  expect([new URL(page.url()).pathname, await palette(page).count()]).toEqual(['/prompts/kaleidoscope-maker', 0])
  await page.keyboard.press('Meta+k')
  await page.keyboard.type('conn')
  await expect.poll(() => options(page).first().textContent()).toBe('Connect')
  await page.keyboard.press('Escape')
  expect(await palette(page).count()).toBe(0)
  // Only the hits of the last query are shown: the one before is given up.
  await page.goto('/docs')
  await page.keyboard.press('Control+K')
  await expect.poll(() => options(page).count()).toBeGreaterThan(3)
  const asked: string[] = []
  const held = Promise.withResolvers<void>()
  await page.route('**/search?q=*', async (route) => {
    const q = new URL(route.request().url()).searchParams.get('q') ?? ''
    asked.push(q)
    if (q === 'kite') await held.promise
    await route.continue().catch(() => {})
  })
  await box.fill('kite')
  await expect.poll(() => asked).toEqual(['kite'])
  const aborted = page.waitForEvent('requestfailed')
  await box.fill('kaleidoscope')
  expect(new URL((await aborted).url()).searchParams.get('q')).toBe('kite')
  held.resolve()
  await expect.poll(() => options(page).first().textContent()).toContain('Kaleidoscope')
  expect(asked).toEqual(['kite', 'kaleidoscope'])
  expect(await options(page).filter({ hasText: 'Kite' }).count()).toBe(0)
  await page.unrouteAll()
  // A theme holds at once, and on the next page.
  await box.fill('theme: dark')
  await expect.poll(() => options(page).first().textContent()).toBe('Theme: dark')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')

  // Rows are walked through by keys, copied, voted for; a star is set in place, and copying by mouse takes a button that shows.
  await page.goto(LIST)
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
  const order = await titles.allTextContents()
  for (const place of [0, 1, 2]) {
    await page.keyboard.press('j')
    expect(await focused(page)).toBe(order[place])
  }
  await page.keyboard.press('k')
  await page.keyboard.press('c')
  await toast(page).toBe('Copied. It has blanks to fill in.')
  await expectCopied(page).toBe(TEXT.repeat(8).replaceAll('${topic:the weather}', 'the weather'))
  await page.keyboard.press('v')
  await toast(page).toBe('Upvoted')
  await page.reload()
  const voted = page.locator('li[data-row]').nth(1)
  expect(await voted.getByText('1 vote').count()).toBe(1)
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('v')
  await toast(page).toBe('Vote removed')
  const star = voted.getByRole('button', { name: /^Favourite/ })
  await star.click()
  await expect.poll(() => star.getAttribute('aria-pressed')).toBe('true')
  expect(new URL(page.url()).search).toBe('?tag=kite')
  const copy = page
    .locator('li[data-row]')
    .nth(2)
    .getByRole('button', { name: /^Copy: Kite/ })
  const opacity = () => copy.evaluate((one) => getComputedStyle(one).opacity)
  await page.mouse.move(0, 0)
  expect(await opacity()).toBe('0')
  await page.locator('li[data-row]').nth(2).hover()
  expect(await opacity()).toBe('1')
  await page.mouse.move(0, 0)
  await page.locator('li[data-row]').nth(2).getByRole('link').first().focus()
  expect(await opacity()).toBe('1')

  // Single keys are explained, and can be turned off.
  await page.keyboard.press('?')
  await palette(page).getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
  await palette(page).getByLabel('Use single-key shortcuts').uncheck()
  await palette(page).getByRole('button', { name: 'Close' }).click()
  await page.reload()
  for (const one of ['j', '/', '?']) await page.keyboard.press(one)
  expect([await isFocused(page, 'body'), await palette(page).count()]).toEqual([true, 0])
  await page.goto('/search')
  await page.getByLabel('Use single-key shortcuts').check()
  await page.goto(LIST)
  await page.keyboard.press('j')
  expect(await focused(page)).toBe(order[0])

  // The menu of somebody who is signed in: one is open at a time, and Escape closes it.
  await page.locator('header').getByText('grace', { exact: true }).click()
  expect(await page.getByRole('link', { name: 'Settings' }).isVisible()).toBe(true)
  await page.getByText('New', { exact: true }).click()
  expect(await page.getByRole('link', { name: 'Settings' }).isVisible()).toBe(false)
  await page.keyboard.press('Escape')
  expect(await page.getByRole('link', { name: 'New prompt' }).isVisible()).toBe(false)

  // Eight rows are seen at once, with facts on one line, ages, and blanks by name.
  const rows = page.locator('.rows > li')
  const seen = await rows.evaluateAll((all) => all.filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length)
  expect(seen).toBeGreaterThanOrEqual(8)
  const row = rows.nth(3)
  const lines = await row.locator('.facts > li').evaluateAll((all) => new Set(all.map((fact) => fact.getBoundingClientRect().y)).size)
  expect(lines).toBe(1)
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
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Page 2 of 2' }).click()
  await page.waitForURL('**/prompts?*&page=2')

  // A list takes few bytes, the font included, and its head fits every width.
  const stranger = await bench.newPage()
  const requests: Request[] = []
  stranger.on('request', (request) => requests.push(request))
  await stranger.goto(LIST, { waitUntil: 'networkidle' })
  const bytes = await Promise.all(requests.map((request) => request.sizes()))
  const total = bytes.reduce((sum, { responseBodySize, responseHeadersSize }) => sum + responseBodySize + responseHeadersSize, 0)
  expect(requests.map((request) => new URL(request.url()).pathname.split('/').at(-1))).toEqual(
    expect.arrayContaining(['prompts', 'find.js']),
  )
  expect(total).toBeGreaterThan(50_000)
  expect(total).toBeLessThanOrEqual(70 * 1024)
  for (const width of [320, 390, 768, 1023, 1024, 1100, 1440]) {
    await stranger.setViewportSize({ width, height: 800 })
    const [wide, height] = await stranger.evaluate(() => [
      document.documentElement.scrollWidth,
      document.querySelector('header.top')?.getBoundingClientRect().height ?? 0,
    ])
    expect([wide, Math.round(height ?? 0)], String(width)).toEqual([width, 57])
  }

  // A phone has one row of head and large targets.
  await stranger.setViewportSize(VIEWPORTS.phone)
  await stranger.goto(`${LIST}&category=coding`)
  expect((await stranger.locator('header.top').boundingBox())?.height).toBeLessThanOrEqual(64)
  expect(await stranger.getByRole('link', { name: 'Clear filters' }).isVisible()).toBe(false)
  await stranger.getByText('Filter (2)').click()
  expect(await stranger.getByRole('link', { name: 'Clear filters' }).isVisible()).toBe(true)
  await stranger.getByText('Menu', { exact: true }).click()
  expect(await stranger.getByRole('link', { name: 'Docs' }).isVisible()).toBe(true)
  const targets =
    'header :is(nav a, summary, input:not([type=hidden])), .narrowing :is(summary, .filters a), .sorts a, .rows :is(h3 a, .facts a), .pages a'
  const small = await stranger
    .locator(targets)
    .evaluateAll((all) =>
      all.flatMap((one) => (one.getBoundingClientRect().height < 44 ? [`${one.textContent} ${one.getBoundingClientRect().height}`] : [])),
    )
  expect(small).toEqual([])
})

/** Contrast of an element's text against its own background (WCAG 2.2, "contrast ratio"). Runs in the page. */
function contrastOf(node: Element): number {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
      const share = Number(part) / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const { color } = getComputedStyle(node)
  // Of the nearest element that has one.
  let painted: Element | null = node
  while (painted && getComputedStyle(painted).backgroundColor === 'rgba(0, 0, 0, 0)') painted = painted.parentElement
  const { backgroundColor } = getComputedStyle(painted ?? document.body)
  const [light = 0, dark = 0] = [luminance(color), luminance(backgroundColor)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}
