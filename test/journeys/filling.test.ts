import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { lookForBarriers, useBrowser, VIEWPORTS } from '../support/browser.ts'

const CONTENT = 'Write to ${clientName} about ${topic:the weather}.\nThank ${clientName} for ${reason}.'
const MARKDOWN = [
  '---\nname: notes\ndescription: For ${product}\n---\n# Release ${version:1.0} of ${product}',
  '**Write** for ${audience}: [all of it](https://example.org/${path}).',
  '| a |\n|---|\n| ${product} |',
  '```js\nconst name = "${product}"\n```\n',
].join('\n\n')
const JSON_TEXT = '{\n  "role": "${role}",\n  "goals": ["${goal:rest}"]\n}'

describe('a reader who fills in a prompt', () => {
  const bench = useBrowser()
  const paths = { letter: '', markdown: '', json: '', plain: '', many: '' }
  beforeAll(async () => {
    const key = await bench.createKey('Ada')
    const save = async (title: string, content: string, more = {}) =>
      `/prompts/${(await bench.save(key, 'prompt', { title, content, ...more })).slug}`
    paths.letter = await save('Letter to a client', CONTENT)
    paths.markdown = await save('Release notes', MARKDOWN)
    paths.json = await save('Structured', JSON_TEXT, { type: 'STRUCTURED' })
    paths.plain = await save('Plain', 'Nothing to fill in.')
    paths.many = await save('Many', '${word} '.repeat(3_000))
  })

  const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())
  const copied = (page: Page) => expect.poll(() => clipboard(page))
  const said = (page: Page) => page.locator('[data-said]').textContent()
  /** Fields in the order of the text, with what they show. */
  const fields = (page: Page) =>
    page
      .locator('textarea')
      .evaluateAll((all) => all.flatMap((one) => (one instanceof HTMLTextAreaElement ? [[one.placeholder, one.value]] : [])))
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))

  it('types into the text itself, and the same name has the same value', async () => {
    const page = await bench.newPage()
    await page.goto(paths.letter)
    expect(await fields(page)).toEqual([
      ['Client name', ''],
      ['the weather', ''],
      ['Client name', ''],
      ['Reason', ''],
    ])
    // There is no form beside the text.
    expect(await page.getByRole('button', { name: 'Apply' }).count()).toBe(0)
    await page.getByLabel('Client name').first().fill('Ada & <b>Bob</b>')
    expect((await fields(page))[2]).toEqual(['Client name', 'Ada & <b>Bob</b>'])
    await page.getByLabel('Client name').nth(1).fill('Eve')
    expect((await fields(page))[0]).toEqual(['Client name', 'Eve'])
    expect(await page.locator('[data-progress]').textContent()).toBe('1 of 3 filled · Clear')
    await page.getByRole('button', { name: 'Clear' }).click()
    expect((await fields(page)).map(([, value]) => value).join('')).toBe('')
    expect(await page.locator('[data-progress] span').first().textContent()).toBe('0 of 3 filled')
    expect(await page.getByRole('button', { name: 'Clear' }).count()).toBe(0)
    expect(await focused(page)).toBe('Client name')
  })

  it('goes on with Tab, past names that have a value, and copies with Ctrl+Enter', async () => {
    const page = await bench.newPage()
    await page.goto(paths.letter)
    await page.getByLabel('Client name').first().focus()
    await page.keyboard.type('Ada')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Topic')
    await page.keyboard.type('$& ${reason}')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Reason')
    await page.keyboard.type('tea')
    await page.keyboard.press('Control+Enter')
    await copied(page).toBe('Write to Ada about $& ${reason}.\nThank Ada for tea.')
    expect(await page.getByRole('status').textContent()).toBe('Copied.')
    expect(await page.getByRole('button', { name: 'Copied', exact: true }).count()).toBe(1)
    // The button says again what it does.
    await page.getByRole('button', { name: 'Copy', exact: true }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Copy')
  })

  it('keeps the lines of what they paste, in a field that grows with it', async () => {
    const page = await bench.newPage()
    await page.goto(paths.letter)
    const commits = 'feat: one\nfix: two\n\tchore: three\n'
    const field = page.getByLabel('Reason')
    const size = async () => (await field.boundingBox()) ?? { width: 0, height: 0 }
    const empty = await size()
    await page.evaluate((text) => navigator.clipboard.writeText(text), commits)
    await field.focus()
    await page.keyboard.press('Control+V')
    expect(await field.inputValue()).toBe(commits)
    expect((await size()).height).toBeCloseTo(empty.height * 4, 0)
    const isWhole = () => field.evaluate((one) => one.scrollHeight <= one.clientHeight && one.scrollWidth <= one.clientWidth)
    expect(await isWhole()).toBe(true)
    await field.fill('one word')
    expect((await size()).height).toBe(empty.height)
    const narrow = (await size()).width
    await field.fill('one word, and some more of them')
    expect((await size()).width).toBeGreaterThan(narrow * 2)
    // No text is too long for its field, and none is wider than the page.
    await field.fill('word '.repeat(2_000))
    expect(await isWhole()).toBe(true)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(VIEWPORTS.desktop.width)
  })

  it('fills in the preview where it stands, and takes the values to the source and back', async () => {
    const page = await bench.newPage()
    await page.goto(`${paths.markdown}?view=rendered`)
    const written = page.locator('.written')
    expect(await written.getByRole('table', { name: 'Frontmatter' }).getByRole('cell').allTextContents()).toEqual(['notes', 'For '])
    expect(await written.getByRole('heading').count()).toBe(1)
    for (const place of ['h2', 'tbody td', 'pre'])
      expect(await written.locator(place).getByLabel('Product').count(), place).toBeGreaterThan(0)
    // Tab goes from field to field, also where a table or code scrolls.
    await page.getByLabel('Path').focus()
    const stops: unknown[] = []
    for (let count = 0; count < 3; count++) {
      await page.keyboard.press('Tab')
      stops.push(await focused(page))
    }
    expect(stops).toEqual(['Product', 'Version', 'Audience'])
    // A blank that Markdown leaves no place for has one above.
    await page.getByLabel('Path').fill('1.0')
    await page.getByLabel('Product').first().fill('Atlas')
    expect(await written.locator('pre textarea').inputValue()).toBe('Atlas')
    await page.getByLabel('Audience').fill('*all*\nof them')
    await page.getByRole('link', { name: 'Source' }).click()
    await page.waitForURL((url) => url.search === '')
    expect(await page.getByLabel('Product').first().inputValue()).toBe('Atlas')
    await page.keyboard.press('Control+Enter')
    const filled = MARKDOWN.replaceAll('${product}', 'Atlas')
      .replace('${version:1.0}', '1.0')
      .replace('${audience}', '*all*\nof them')
      .replace('${path}', '1.0')
    await copied(page).toBe(filled)
    await page.getByRole('link', { name: 'Preview' }).click()
    await page.waitForURL('**/*?view=rendered')
    expect(await page.getByLabel('Audience').inputValue()).toBe('*all*\nof them')
    await page.getByRole('button', { name: 'Copy' }).click()
    await copied(page).toBe(filled)
  })

  it('fills in JSON where it stands', async () => {
    const page = await bench.newPage({ viewport: 'phone' })
    await page.goto(paths.json)
    await page.getByLabel('Role').fill('cook')
    await page.getByRole('button', { name: 'Copy' }).click()
    await copied(page).toBe('{\n  "role": "cook",\n  "goals": ["rest"]\n}')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(VIEWPORTS.phone.width)
  })

  it('is told what is empty before anything is copied, and may go on', async () => {
    const page = await bench.newPage()
    await page.goto(paths.letter)
    await page.evaluate(() => navigator.clipboard.writeText('before'))
    await page.getByRole('button', { name: 'Copy' }).click()
    expect(await focused(page)).toBe('Client name')
    expect(await said(page)).toBe('Still empty: Client name, Reason. Fill in the rest, or press again to continue without.')
    expect(await clipboard(page)).toBe('before')
    expect(await page.locator('textarea[aria-invalid]').count()).toBe(3)
    const button = page.locator('[data-copy-filled]')
    expect(await button.textContent()).toBe('Copy with 2 blanks')
    await page.keyboard.type('Ada')
    expect(await button.textContent()).toBe('Copy with 1 blank')
    await button.click()
    await copied(page).toBe('Write to Ada about the weather.\nThank Ada for ${reason}.')
    expect(await said(page)).toBe('Copied. Still empty: Reason.')
    await page.getByLabel('Reason').fill('tea')
    expect(await button.textContent()).toBe('Copy')
    await page.goto(paths.plain)
    await page.getByRole('button', { name: 'Copy' }).click()
    await copied(page).toBe('Nothing to fill in.')
  })

  it('copies where the browser has no clipboard for pages, and is told when nothing works', async () => {
    const page = await bench.newPage()
    await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await page.goto(paths.plain)
    await page.evaluate(() => {
      document.addEventListener('copy', () => Reflect.set(window, 'copied', document.getSelection()?.toString()))
    })
    await page.getByRole('button', { name: 'Copy' }).click()
    expect(await said(page)).toBe('Copied.')
    expect(await page.evaluate(() => Reflect.get(window, 'copied'))).toBe('Nothing to fill in.')
    await page.evaluate(() => Reflect.set(document, 'execCommand', () => false))
    await page.locator('[data-copy-filled]').click()
    expect(await said(page)).toBe('The browser refused to copy. Select the text and copy it yourself.')
  })

  it('takes the values along when they select the text and copy that', async () => {
    const page = await bench.newPage()
    await page.goto(paths.letter)
    await page.getByLabel('Client name').first().fill('Ada')
    await page.locator('[data-text]').evaluate((text) => getSelection()?.selectAllChildren(text))
    await page.evaluate(() => document.execCommand('copy'))
    await copied(page).toBe('Write to Ada about the weather.\nThank Ada for ${reason}.')
  })

  it('finds the values again after leaving and coming back, in this tab alone, and sends none', async () => {
    const page = await bench.newPage()
    const sent: string[] = []
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`))
    await page.goto(paths.letter)
    await page.getByLabel('Reason').fill('a secret of mine')
    await page.goto('/prompts')
    await page.goto(paths.letter)
    expect(await page.getByLabel('Reason').inputValue()).toBe('a secret of mine')
    expect(await page.locator('[data-progress] span').first().textContent()).toBe('1 of 3 filled')
    await page.goto(paths.markdown)
    expect((await fields(page)).map(([, value]) => value).join('')).toBe('')
    expect(sent.filter((one) => /secret/.test(decodeURIComponent(one)))).toEqual([])
    const other = await page.context().newPage()
    await other.goto(paths.letter)
    expect(await other.getByLabel('Reason').inputValue()).toBe('')
    // A browser that keeps nothing shows the page all the same.
    await page.addInitScript(() => {
      Object.defineProperty(window, 'sessionStorage', {
        get: () => {
          throw new Error('off')
        },
      })
    })
    await page.goto(paths.letter)
    await page.getByLabel('Reason').fill('tea')
    expect(await page.locator('[data-progress] span').first().textContent()).toBe('1 of 3 filled')
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
    await copied(page).toBe('if (user \u202e!== admin) a\u202eb')
    // What somebody types is shown by the same rule.
    await page.getByLabel('name').fill('c\u200ed')
    await expect.poll(() => page.locator('[data-text] mark bdi').getAttribute('data-controls')).toBe('200E')
  })

  it('works with a text full of blanks', async () => {
    const page = await bench.newPage()
    await page.goto(paths.many)
    expect(await page.locator('textarea').count()).toBe(500)
    await page.getByLabel('Word').first().fill('tea')
    expect(await page.locator('mark').last().textContent()).toBe('tea')
    await page.keyboard.press('Control+Enter')
    await copied(page).toBe('tea '.repeat(3_000))
  })

  it('has no barriers while it is filled in, in both themes, on a desktop and on a phone', async () => {
    const page = await bench.newPage()
    const found: string[] = []
    for (const path of [paths.letter, paths.json, `${paths.markdown}?view=rendered`]) {
      await page.setViewportSize(VIEWPORTS.desktop)
      await page.goto(path)
      await page.locator('[data-copy-filled]').click()
      found.push(...(await lookForBarriers(page, `${path}, what is empty`)))
      await page.locator('mark textarea').first().fill('a value\nof two lines')
      await page.locator('[data-open-in] > summary').click()
      found.push(...(await lookForBarriers(page, `${path}, filled`)))
    }
    expect(found).toEqual([])
  })
})
