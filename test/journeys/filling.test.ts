import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { expectCopied, readClipboard, useSharedService, VIEWPORTS } from '../support/browser.ts'

const bench = useSharedService()
const LETTER = 'Write to ${clientName} about ${topic:the weather}.\nThank ${clientName} for ${reason}.'
const MARKDOWN = [
  '---\nname: notes\ndescription: For ${product}\n---\n# Release ${version:1.0} of ${product}',
  '**Write** for ${audience}: [all of it](https://example.org/${path}).',
  '| a | b | c |\n|---|:-:|--:|\n| ${product} | 2 | 3 |',
  '```js\nconst name = "${product}"\n```\n',
].join('\n\n')
/** Longest text that a link still holds. */
const FITTING = 'x'.repeat(7_000)
const paths = { letter: '', markdown: '', json: '', many: '', long: '', controls: '', rightToLeft: '' }

beforeAll(async () => {
  const key = await bench.createKey('oscar')
  const save = async (title: string, content: string, more = {}) =>
    `/prompts/${(await bench.save(key, 'prompt', { title, content, ...more })).slug}`
  paths.letter = await save('Letter to a client', LETTER, { description: 'A letter.', tags: ['letters', 'clients'] })
  paths.markdown = await save('Release notes', MARKDOWN)
  paths.json = await save('Structured', '{\n  "role": "${role}",\n  "goals": ["${goal:rest}"]\n}', { type: 'STRUCTURED' })
  paths.many = await save('Many', '${word} '.repeat(3_000))
  paths.long = await save('A long text', `${FITTING}\${more:} end. ${'Line of a long text.\n\n'.repeat(5)}`)
  paths.controls = await save('Pay\u202e\u2066// admin\u2069\u2067e\u202cnd', 'if (user \u202e!== admin) ${name:a\u202eb}')
  paths.rightToLeft = await save('كتابة رسالة', 'اكتب رسالة إلى ${name}.\n\nAn English line.', { description: 'رسالة قصيرة' })
})

const said = (page: Page) => page.locator('[data-said]').textContent()
const progress = (page: Page) => page.locator('[data-progress] span').first().textContent()
/** Fields in the order of the text, with what they show. */
const fields = (page: Page) =>
  page
    .locator('textarea')
    .evaluateAll((all) => all.flatMap((one) => (one instanceof HTMLTextAreaElement ? [[one.placeholder, one.value]] : [])))
const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
const openMenu = (page: Page) => page.locator('[data-open-in] > summary').click()

it('a reader fills in the blanks of a prompt where they stand, and copies it', async () => {
  const page = await bench.newPage()
  const sent: string[] = []
  page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`))
  await page.goto(paths.letter)
  expect(await fields(page)).toEqual([
    ['Client name', ''],
    ['the weather', ''],
    ['Client name', ''],
    ['Reason', ''],
  ])
  // There is no form beside the text.
  expect(await page.getByRole('button', { name: 'Apply' }).count()).toBe(0)

  // What is empty is told before anything is copied, and they may go on.
  await page.evaluate(() => navigator.clipboard.writeText('before'))
  const button = page.locator('[data-copy-filled]')
  await button.click()
  expect(await focused(page)).toBe('Client name')
  expect(await said(page)).toBe('Still empty: Client name, Reason. Fill in the rest, or press again to continue without.')
  expect([await readClipboard(page), await button.textContent()]).toEqual(['before', 'Copy with 2 blanks'])
  expect(await page.locator('textarea[aria-invalid]').count()).toBe(3)
  await page.keyboard.type('Ada & <b>Bob</b>')
  expect((await fields(page))[2]).toEqual(['Client name', 'Ada & <b>Bob</b>'])
  expect(await button.textContent()).toBe('Copy with 1 blank')
  await button.click()
  await expectCopied(page).toBe('Write to Ada & <b>Bob</b> about the weather.\nThank Ada & <b>Bob</b> for ${reason}.')
  expect(await said(page)).toBe('Copied. Still empty: Reason.')
  // The second field of a name changes the first, and a selection is copied with its values.
  await page.getByLabel('Client name').nth(1).fill('Eve')
  expect((await fields(page))[0]).toEqual(['Client name', 'Eve'])
  await page.locator('[data-text]').evaluate((text) => getSelection()?.selectAllChildren(text))
  await page.evaluate(() => document.execCommand('copy'))
  await expectCopied(page).toBe('Write to Eve about the weather.\nThank Eve for ${reason}.')
  expect(await page.locator('[data-progress]').textContent()).toBe('1 of 3 filled · 1 required · Clear')
  await page.getByRole('button', { name: 'Clear' }).click()
  expect((await fields(page)).map(([, value]) => value).join('')).toBe('')
  expect([await progress(page), await page.getByRole('button', { name: 'Clear' }).count()]).toEqual(['0 of 3 filled · 2 required', 0])

  // Tab goes on past names that have a value, Ctrl+Enter copies, and the service hears of the copy without the text.
  await page.keyboard.type('Ada')
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('Topic')
  await page.keyboard.type('$& ${reason}')
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('Reason')
  await page.keyboard.type('a secret of mine')
  const told = page.waitForResponse((response) => response.url().endsWith('/copied'))
  await page.keyboard.press('Control+Enter')
  await expectCopied(page).toBe('Write to Ada about $& ${reason}.\nThank Ada for a secret of mine.')
  expect([(await told).status(), (await told).request().postData()]).toEqual([204, null])
  expect(await page.getByRole('status').textContent()).toBe('Copied.')
  // The button says again what it does.
  await page.getByRole('button', { name: 'Copy', exact: true }).waitFor()
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Copy')

  // Values are there again after leaving, in this tab alone, and were never sent.
  await page.goto('/docs')
  await page.goto(paths.letter)
  const reason = page.getByLabel('Reason')
  expect([await reason.inputValue(), await progress(page)]).toEqual(['a secret of mine', '3 of 3 filled'])
  const tab = await page.context().newPage()
  await tab.goto(paths.letter)
  expect(await tab.getByLabel('Reason').inputValue()).toBe('')
  expect(sent.filter((one) => /secret/.test(decodeURIComponent(one)))).toEqual([])

  // A field grows with what is pasted, lines and all, and never beyond the page.
  const commits = 'feat: one\nfix: two\n\tchore: three\n'
  const size = async () => (await reason.boundingBox()) ?? { width: 0, height: 0 }
  await reason.fill('')
  const empty = await size()
  await page.evaluate((text) => navigator.clipboard.writeText(text), commits)
  await reason.focus()
  await page.keyboard.press('Control+V')
  await expect.poll(() => reason.inputValue()).toBe(commits)
  expect((await size()).height).toBeCloseTo(empty.height * 4, 0)
  await page.keyboard.press('Control+Enter')
  await expectCopied(page).toBe(`Write to Ada about $& \${reason}.\nThank Ada for ${commits}.`)
  const isWhole = () => reason.evaluate((one) => one.scrollHeight <= one.clientHeight && one.scrollWidth <= one.clientWidth)
  expect(await isWhole()).toBe(true)
  await reason.fill('one word')
  const narrow = await size()
  expect(narrow.height).toBe(empty.height)
  await reason.fill('one word, and some more of them')
  expect((await size()).width).toBeGreaterThan(narrow.width * 2)
  await reason.fill('word '.repeat(2_000))
  expect(await isWhole()).toBe(true)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(VIEWPORTS.desktop.width)

  // A preview is filled in where it stands, and the values go to the source and back.
  await page.goto(paths.markdown)
  const written = page.locator('.written')
  await written.getByText('Frontmatter').click()
  expect(await written.getByRole('table').first().getByRole('cell').allTextContents()).toEqual(['notes', 'For '])
  for (const place of ['h2', 'tbody td', 'pre'])
    expect(await written.locator(place).getByLabel('Product').count(), place).toBeGreaterThan(0)
  const sides = await written
    .locator('table')
    .last()
    .locator('td')
    .evaluateAll((all) => all.map((cell) => getComputedStyle(cell).textAlign))
  expect(sides).toEqual(['left', 'center', 'right'])
  // From the button that folds the frontmatter on.
  await written.getByText('Frontmatter').focus()
  const stops: unknown[] = []
  for (let count = 0; count < 3; count++) {
    await page.keyboard.press('Tab')
    stops.push(await focused(page))
  }
  expect(stops).toEqual(['Product', 'Version', 'Audience'])
  await page.getByLabel('Path').fill('1.0')
  await page.getByLabel('Product').first().fill('Atlas')
  expect(await written.locator('pre textarea').inputValue()).toBe('Atlas')
  await page.getByLabel('Audience').fill('*all*\nof them')
  // A selection of a preview is copied as it is shown, values and their lines included.
  await written.evaluate((text) => getSelection()?.selectAllChildren(text))
  await page.evaluate(() => document.execCommand('copy'))
  const selected = String(await readClipboard(page))
  for (const part of ['Release 1.0 of Atlas\n', 'Write for *all*\nof them: all of it.', 'const name = "Atlas"'])
    expect(selected).toContain(part)
  await page.getByRole('link', { name: 'Source' }).click()
  await page.waitForURL('**/*?view=raw')
  expect(await page.getByLabel('Product').first().inputValue()).toBe('Atlas')
  await page.keyboard.press('Control+Enter')
  const filled = MARKDOWN.replaceAll('${product}', 'Atlas')
    .replace('${version:1.0}', '1.0')
    .replace('${audience}', '*all*\nof them')
    .replace('${path}', '1.0')
  await expectCopied(page).toBe(filled)
  await page.getByRole('link', { name: 'Preview' }).click()
  await page.waitForURL('**/*?view=rendered')
  expect(await page.getByLabel('Audience').inputValue()).toBe('*all*\nof them')
  await page.goto(paths.json)
  await page.getByLabel('Role').fill('cook')
  await button.click()
  await expectCopied(page).toBe('{\n  "role": "cook",\n  "goals": ["rest"]\n}')

  // A text full of blanks has fields for the first 500.
  await page.goto(paths.many)
  expect(await page.locator('textarea').count()).toBe(500)
  await page.getByLabel('Word').first().fill('tea')
  expect(await page.locator('mark').last().textContent()).toBe('tea')
  await page.keyboard.press('Control+Enter')
  await expectCopied(page).toBe('tea '.repeat(3_000))

  // Control characters are marks that reorder nothing, and are copied as they are.
  await page.goto(paths.controls)
  const marks = await page
    .locator('h1 bdi, [data-text] bdi')
    .evaluateAll((all) => all.map((one) => getComputedStyle(one, '::before').content))
  expect(marks).toEqual(['202E 2066', '2069 2067', '202C', '202E', '202E'].map((name) => `"⟨U+${name}⟩"`))
  const lefts = await page.locator('h1').evaluate((title) =>
    [...title.childNodes].flatMap((node) =>
      Array.from({ length: node.nodeType === Node.TEXT_NODE ? (node.textContent?.length ?? 0) : 0 }, (_, at) => {
        const range = document.createRange()
        range.setStart(node, at)
        range.setEnd(node, at + 1)
        return range.getBoundingClientRect().left
      }),
    ),
  )
  expect(lefts).toEqual(lefts.toSorted((one, other) => one - other))
  expect(new Set(lefts).size).toBe('Pay// adminend'.length)
  await button.click()
  await expectCopied(page).toBe('if (user \u202e!== admin) a\u202eb')
  await page.getByLabel('name').fill('c\u200ed')
  await expect.poll(() => page.locator('[data-text] mark bdi').getAttribute('data-controls')).toBe('200E')

  // Browsers without a clipboard for pages, or that keep nothing, do what they can, and say when nothing works.
  const poor = await bench.newPage()
  await poor.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
    Object.defineProperty(window, 'sessionStorage', {
      get: () => {
        throw new Error('off')
      },
    })
  })
  await poor.goto(paths.letter)
  await poor.getByLabel('Client name').first().fill('Ada')
  await poor.getByLabel('Reason').fill('two\n\tcups of  tea\n')
  expect(await progress(poor)).toBe('2 of 3 filled')
  await poor.locator('[data-copy-filled]').click()
  expect(await said(poor)).toBe('Copied.')
  await page.bringToFront()
  await expectCopied(page).toBe('Write to Ada about the weather.\nThank Ada for two\n\tcups of  tea\n.')
  await poor.bringToFront()
  await poor.evaluate(() => Reflect.set(document, 'execCommand', () => false))
  await poor.locator('[data-copy-filled]').click()
  expect(await said(poor)).toBe('The browser refused to copy. Select the text and copy it yourself.')
})

it('a reader takes a prompt to another application, from a desktop and from a phone', async () => {
  const page = await bench.newPage()
  // Where links lead is noted, not followed.
  await page.addInitScript(() => {
    const opened: string[] = []
    Reflect.set(window, 'opened', opened)
    Reflect.set(window, 'open', (...args: string[]) => opened.push(args.join(' ')))
    document.addEventListener('click', (event) => {
      const link = event.target instanceof Element ? event.target.closest('[data-open-in] a') : null
      if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented) return
      opened.push(`${link.href} ${link.target} ${link.rel}`)
      event.preventDefault()
    })
  })
  const opened = () => page.evaluate(() => Reflect.get(window, 'opened'))
  const entries = () => page.locator('[data-open-in] a').evaluateAll((links) => links.map((one) => one.textContent?.split(' copied')[0]))

  // It is found, filled in and copied without a mouse, in a few keys.
  await page.goto('/embeds')
  let presses = 0
  const press = async (key: string) => {
    presses++
    await page.keyboard.press(key)
  }
  await press('/')
  await page.keyboard.type('client letter')
  await press('Enter')
  await page.waitForURL('**/search?q=client+letter')
  await press('j')
  await press('Enter')
  await page.waitForURL(`**${paths.letter}`)
  await press('Control+Enter')
  await page.keyboard.type('R&D "50%"')
  await press('Tab')
  await press('Tab')
  await page.keyboard.type('tea')
  await press('Control+Enter')
  const text = 'Write to R&D "50%" about the weather.\nThank R&D "50%" for tea.'
  await expectCopied(page).toBe(text)
  expect(presses).toBeLessThanOrEqual(12)

  // It opens elsewhere with its values, by keyboard too, and what was used last comes first.
  await openMenu(page)
  expect(await entries()).toEqual(['ChatGPT', 'Claude', 'Perplexity', 'Gemini', 'Cursor', 'VS Code'])
  await page.keyboard.press('Escape')
  await page.locator('[data-open-in] > summary').focus()
  for (const key of ['Enter', 'Tab', 'Tab', 'Enter']) await page.keyboard.press(key)
  expect(await opened()).toEqual([`https://claude.ai/new?q=${encodeURIComponent(text)} _blank noopener nofollow external`])
  expect(await page.locator('[data-open-in][open]').count()).toBe(0)
  await page.reload()
  await openMenu(page)
  expect((await entries()).slice(0, 2)).toEqual(['Claude', 'ChatGPT'])
  // Applications on this machine open no tab.
  await page.getByRole('link', { name: 'Cursor' }).click()
  const twice = encodeURIComponent(encodeURIComponent(text))
  expect(await opened()).toEqual([`cursor://anysphere.cursor-deeplink/prompt?text=${twice}  noopener nofollow external`])
  await openMenu(page)
  expect((await entries()).slice(0, 2)).toEqual(['Cursor', 'Claude'])
  // What is missing is named here, too.
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Clear' }).click()
  await openMenu(page)
  await page.getByRole('link', { name: 'Claude' }).click()
  expect(await focused(page)).toBe('Client name')
  expect(await said(page)).toBe('Still empty: Client name, Reason. Fill in the rest, or press again to continue without.')

  // A text that no address takes is copied first, to be pasted.
  await page.goto(paths.long)
  await openMenu(page)
  const chat = page.getByRole('link', { name: 'ChatGPT' })
  // The browser reports the open menu in a task of its own.
  await page.getByRole('link', { name: 'Gemini copied first' }).waitFor()
  expect(await chat.locator('small').isVisible()).toBe(false)
  await page.keyboard.press('Escape')
  await page.getByLabel('More').fill('y'.repeat(2_000))
  await openMenu(page)
  await chat.locator('small').waitFor()
  await chat.click()
  await expect.poll(() => said(page)).toBe('Copied. Paste it into ChatGPT.')
  await expectCopied(page).toContain(`${FITTING}${'y'.repeat(2_000)} end.`)
  expect(await opened()).toEqual(['https://chatgpt.com/ _blank noopener'])

  // On a phone nothing moves while the scripts arrive late, and they are little.
  const phone = await bench.newPage({ viewport: 'phone', allowed: [/woff2/] })
  await phone.route('**/*.woff2', (route) => route.abort())
  const scripts: Promise<Buffer>[] = []
  phone.on('response', (response) => {
    if (response.request().resourceType() === 'script') scripts.push(response.body())
  })
  const arrived = Promise.withResolvers<void>()
  await phone.route('**/prompt.js', async (route) => {
    await arrived.promise
    await route.continue()
  })
  await phone.addInitScript(() => {
    Reflect.set(window, 'shifts', 0)
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) Reflect.set(window, 'shifts', Reflect.get(window, 'shifts') + Reflect.get(entry, 'value'))
    }).observe({ type: 'layout-shift', buffered: true })
  })
  const drawn = () => phone.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  await phone.goto(paths.letter, { waitUntil: 'commit' })
  // Nothing is drawn before they are there.
  await phone.locator('.folded').waitFor({ state: 'attached' })
  arrived.resolve()
  await phone.getByLabel('Reason').waitFor()
  await drawn()
  expect(await phone.evaluate(() => Reflect.get(window, 'shifts'))).toBeLessThan(0.01)
  await phone.waitForLoadState('networkidle')
  const bodies = await Promise.all(scripts)
  expect(bodies.length).toBeGreaterThanOrEqual(2)
  expect(bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)).toBeLessThanOrEqual(10 * 1024)

  // There it has the title, then the text, then what is folded, with targets for a thumb and the row within reach.
  const top = async (selector: string) => (await phone.locator(selector).first().boundingBox())?.y ?? Number.NaN
  const tops = [await top('h1'), await top('.byline'), await top('[data-text]'), await top('.folded')]
  expect(tops).toEqual(tops.toSorted((one, other) => one - other))
  expect(await phone.getByText('Prompt file').isVisible()).toBe(false)
  await phone.getByText('About this prompt').click()
  expect(await phone.getByText('Prompt file').isVisible()).toBe(true)
  expect(await phone.locator('.facts').textContent()).toContain(`${LETTER.length} characters`)
  await openMenu(phone)
  expect((await phone.locator('.actions.here').boundingBox())?.height).toBeLessThanOrEqual(56)
  const small = await phone.locator('article :is(a, button, summary, textarea)').evaluateAll((all) =>
    all.flatMap((one) => {
      const { width, height, right } = one.getBoundingClientRect()
      return height === 0 || (height >= 44 && width >= 24 && right <= innerWidth) ? [] : [`${one.outerHTML}: ${width} × ${height}`]
    }),
  )
  expect(small).toEqual([])
  await phone.evaluate(() => scrollTo(0, 0))
  expect(await phone.locator('[data-copy-filled]').evaluate((one) => one.getBoundingClientRect().bottom <= innerHeight)).toBe(true)

  // A right-to-left text begins at the right, each paragraph its own way.
  await page.goto(paths.rightToLeft)
  for (const selector of ['h1', '.lead', '[data-text]']) {
    const isRight = await page.locator(selector).evaluate((one) => {
      const range = document.createRange()
      range.selectNodeContents(one.firstChild ?? one)
      const first = range.getClientRects()[0]
      return getComputedStyle(one).direction === 'rtl' && first !== undefined && one.getBoundingClientRect().right - first.right < 40
    })
    expect(isRight, selector).toBe(true)
  }
  const directionOf = (name: string) => name && page.getByLabel('Name').evaluate((one) => getComputedStyle(one).direction)
  await page.getByLabel('Name').fill('عمر')
  expect(await directionOf('Name')).toBe('rtl')
  await page.getByLabel('Name').fill('Omar')
  expect(await directionOf('Name')).toBe('ltr')
  // In a list its title begins at its own side, beside facts that do not.
  await phone.goto(`/prompts?q=${encodeURIComponent('كتابة رسالة')}`)
  const ends = await phone
    .locator('.rows h3 a')
    .first()
    .evaluate((title) => {
      const range = document.createRange()
      range.selectNodeContents(title)
      return [Math.round(range.getBoundingClientRect().right), Math.round(title.closest('li')?.getBoundingClientRect().right ?? 0)]
    })
  expect(ends[0]).toBe(ends[1])
})
