import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { strToU8, unzipSync, zipSync } from 'fflate'
import { expect, it } from 'vitest'
import { readClipboard, useSharedService } from '../support/browser.ts'

type Page = Awaited<ReturnType<typeof bench.newPage>>
const bench = useSharedService()
/** A picture of one pixel. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const textOf = (page: Page) => page.getByLabel('Text', { exact: true })
const draftsOf = (page: Page) => page.evaluate(() => JSON.stringify(Object.entries(localStorage)))
const save = async (page: Page, done = 'saved') => {
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.waitForURL(`**?done=${done}`)
}

it('a writer drafts, corrects, saves, meets another writer, compares, restores and publishes', async () => {
  const page = await bench.newMember('willa', { allowed: [/status of 4(?:00|09)/] })
  const dialogs: string[] = []
  page.on('dialog', (dialog) => dialogs.push(dialog.type()))

  // Variables are marked where they stand, and the copy behind the text is scrolled with it.
  await page.goto('/new')
  await textOf(page).fill(`To \${name}, \${tone:kindly}.\n\n${'many words '.repeat(600)}\${name}`)
  await page.locator('.live mark').last().waitFor()
  expect(await page.locator('.live mark').allTextContents()).toEqual(['name', 'kindly', 'name'])
  expect(await page.locator('.marked mark').allTextContents()).toEqual(['${name}', '${tone:kindly}', '${name}'])
  await textOf(page).evaluate((field) => field.scrollTo(0, 400))
  await expect.poll(() => page.locator('.marked > div').evaluate((behind) => behind.scrollTop)).toBe(400)
  const sizes = await page.locator('.marked').evaluate((box) => [...box.children].map((child) => [child.clientWidth, child.scrollHeight]))
  expect(sizes[0]?.[0]).toBe(sizes[1]?.[0])
  expect(Math.abs((sizes[0]?.[1] ?? 0) - (sizes[1]?.[1] ?? 0))).toBeLessThanOrEqual(40)

  // What was typed is kept when a field is refused, and the focus goes to that field.
  await page.getByLabel('Title').fill('Four words')
  await textOf(page).fill('one two\nthree four')
  await page.getByLabel('Tags').fill('x'.repeat(60))
  await page.getByRole('button', { name: 'Save' }).click()
  const alert = page.getByRole('alert')
  await alert.waitFor()
  expect((await alert.textContent())?.trim()).toBe('Please correct 1 field: Tags.')
  expect(await page.locator('#tags-fault').textContent()).toContain('50')
  await page.locator('#field-tags:focus').waitFor()
  await page.getByLabel('Title').focus()
  await alert.getByRole('link', { name: 'Tags' }).click()
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('field-tags')
  expect(await textOf(page).inputValue()).toBe('one two\nthree four')

  // Unsaved text is asked about before it is left, and offered again; tags are made and removed by keys.
  await page.getByRole('button', { name: /^Remove tag x+$/ }).click()
  await textOf(page).fill('one two three four')
  await expect.poll(() => draftsOf(page)).toContain('one two three four')
  await page.goto('/docs')
  expect(dialogs).toEqual(['beforeunload'])
  await page.goto('/new')
  await page.getByRole('button', { name: 'Restore draft' }).click()
  expect([await page.getByLabel('Title').inputValue(), await textOf(page).inputValue()]).toEqual(['Four words', 'one two three four'])
  const tags = page.getByLabel('Tags')
  await tags.pressSequentially('one,two')
  await tags.press('Enter')
  await tags.pressSequentially('oops')
  await tags.press('Enter')
  await tags.press('Backspace')
  await page.getByRole('button', { name: 'Remove tag one' }).click()
  await tags.pressSequentially('three')
  await tags.press('Control+s')
  await page.waitForURL('**/prompts/**')
  const path = new URL(page.url()).pathname
  await page.goto('/new')
  expect(await page.getByRole('button', { name: 'Restore draft' }).count()).toBe(0)

  // Nothing was typed here, so nothing is asked.
  await page.goto(`${path}/edit`)
  expect(await page.locator('input[name="tags"]').inputValue()).toBe('two, three')
  const other = await page.context().newPage()
  await other.goto(`${path}/edit`)
  await page.goto(`${path}/edit`)
  expect(dialogs).toEqual(['beforeunload'])

  // Somebody else saves first: neither text is lost.
  await other.getByLabel('Title').fill('Four words by two')
  await textOf(other).fill('one 2 three four')
  await other.getByLabel('Version note (optional)').fill('A digit.')
  await save(other)
  await textOf(page).fill('uno two three four')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await alert.waitFor()
  expect(await alert.textContent()).toContain('Version 2 was saved after you opened this form')
  const seeConflict = async () => {
    expect(await alert.locator('dt').allTextContents()).toEqual(['Title'])
    const changes = [await alert.locator('del').allTextContents(), await alert.locator('ins').allTextContents()]
    expect(changes).toEqual([[' by two', 'one 2'], ['uno two']])
    expect(await textOf(page).inputValue()).toBe('uno two three four')
  }
  await seeConflict()
  // A preview does not make it forgotten.
  await page.getByRole('button', { name: 'Preview', exact: true }).click()
  await page.getByRole('heading', { name: 'Preview', exact: true }).waitFor()
  await seeConflict()
  expect(await page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Overwrite with my version' }).click()
  await page.waitForURL('**?done=saved')
  expect(await page.locator('[data-text]').textContent()).toBe('uno two three four')

  // A version is restored, and one press takes that back, as a version of its own.
  await page.goto(`${path}/versions/1`)
  const restore = page.getByRole('button', { name: 'Restore this version' })
  await restore.click()
  await page.waitForURL('**?done=version-restored')
  expect(await page.locator('[data-text]').textContent()).toBe('one two three four')
  const undo = page.locator('.notice').getByRole('button', { name: 'Undo' })
  await undo.click()
  await expect.poll(() => page.locator('[data-text]').textContent()).toBe('uno two three four')

  // Any place of a row leads to its version; two versions are compared by a form.
  await page.goto(`${path}/versions`)
  expect(await page.locator('main').textContent()).toContain('A digit.')
  expect(await page.locator('.rows > li').count()).toBe(5)
  const row = page.locator('.rows > li').nth(3)
  const box = await row.boundingBox()
  await row.click({ position: { x: (box?.width ?? 0) - 5, y: (box?.height ?? 0) / 2 } })
  await page.waitForURL('**/versions/2')
  expect([await page.locator('del').allTextContents(), await page.locator('ins').allTextContents()]).toEqual([
    expect.arrayContaining(['two']),
    expect.arrayContaining(['2']),
  ])
  await page.getByRole('combobox', { name: 'Compare' }).selectOption('1')
  await page.getByRole('combobox', { name: 'with' }).selectOption('3')
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.waitForURL('**/versions/3?against=1')

  // Lines stand beside each other where there is room, and those that stayed are unfolded.
  const lines = Array.from({ length: 20 }, (_, line) => `line ${line + 1}`)
  for (const text of [lines, lines.with(9, 'another')]) {
    await page.goto(`${path}/edit`)
    await textOf(page).fill(text.join('\n'))
    await save(page)
  }
  await page.goto(`${path}/versions/7`)
  await page.getByRole('link', { name: 'Line by line' }).click()
  const boxes = async () => [await page.locator('.old li:has(del)').boundingBox(), await page.locator('.new li:has(ins)').boundingBox()]
  const beside = await boxes()
  expect(beside[0]?.y).toBe(beside[1]?.y)
  expect(beside[1]?.x).toBeGreaterThan((beside[0]?.x ?? 0) + 400)
  // The wash is as wide as the side.
  expect(beside[0]?.width).toBeGreaterThan(500)
  await page.setViewportSize({ width: 390, height: 844 })
  const below = await boxes()
  expect(below[0]?.x).toBe(below[1]?.x)
  expect(below[1]?.y).toBeGreaterThan(below[0]?.y ?? 0)
  const folded = page.locator('.new').getByText('line 1', { exact: true })
  expect(await folded.isVisible()).toBe(false)
  const summary = page.getByText('6 unchanged lines')
  expect((await summary.boundingBox())?.height).toBeGreaterThanOrEqual(44)
  await summary.click()
  expect(await folded.isVisible()).toBe(true)
  await page.setViewportSize({ width: 1440, height: 900 })

  // A restore is not undone over what was saved since.
  await page.goto(`${path}/versions/1`)
  await restore.click()
  await page.waitForURL('**?done=version-restored')
  await other.goto(`${path}/edit`)
  await textOf(other).fill('saved since')
  await save(other)
  await undo.click()
  await alert.waitFor()
  await page.goto(path)
  expect(await page.locator('[data-text]').textContent()).toBe('saved since')

  // It is private until its owner publishes it, after a question that Escape and a click elsewhere close.
  const badge = page.locator('.titled .badge')
  expect(await badge.textContent()).toBe('Private')
  expect(await badge.evaluate((one) => getComputedStyle(one, '::before').maskImage)).toContain('data:image/svg+xml')
  expect(await page.getByRole('button', { name: 'Share' }).count()).toBe(0)
  const open = page.locator('summary', { hasText: 'Make public' })
  const confirm = page.getByRole('button', { name: 'Make public' })
  await open.focus()
  await page.keyboard.press('Enter')
  expect(await page.locator('.menu[open] p').textContent()).toMatch(/^Everyone can then read it/)
  await page.keyboard.press('Escape')
  expect(await confirm.isVisible()).toBe(false)
  expect(await open.evaluate((one) => one === document.activeElement)).toBe(true)
  await open.click()
  await page.getByRole('heading', { level: 1 }).click()
  expect(await confirm.isVisible()).toBe(false)
  await open.click()
  await confirm.click()
  await page.waitForURL('**/prompts/four-words?done=published')
  expect(await page.locator('.notice').textContent()).toContain('Published. Everyone can read it now.')
  expect([await badge.textContent(), await open.count()]).toEqual(['Public', 0])
  const stranger = await bench.newPage()
  await stranger.goto('/prompts/four-words')
  expect([await stranger.locator('h1').textContent(), await stranger.locator('.badge').count()]).toEqual(['Four words', 0])
  await stranger.getByRole('button', { name: 'Share' }).click()
  await stranger.getByRole('button', { name: 'Link copied' }).waitFor()
  expect(await readClipboard(stranger)).toBe(`${bench.baseUrl}/prompts/four-words`)

  // It is deleted from a menu, and comes back.
  const remove = page.getByRole('button', { name: 'Delete' })
  expect(await remove.isVisible()).toBe(false)
  await page.locator('summary[aria-label="More actions"]').click()
  await remove.click()
  await page.waitForURL('**/library?kind=prompts&report=*')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone for 1 item.').waitFor()
  await page.goto('/prompts/four-words')
  expect(await page.locator('h1').textContent()).toBe('Four words')

  // Drafts are on the first page, and not those that others began in the same browser.
  await page.evaluate(() => localStorage.setItem('draft:new-skill', '{"values":{"title":"Nobody knows whose"},"isSent":false}'))
  await page.goto('/new')
  await page.getByLabel('Title').fill('A secret of Willa')
  await expect.poll(() => draftsOf(page)).toContain('A secret of Willa')
  expect(await draftsOf(page)).not.toContain('Nobody knows whose')
  await page.goto('/')
  const links = page.locator('[data-drafts] a')
  await links.first().waitFor()
  expect(await links.allTextContents()).toEqual(['A secret of Willa'])
  const cookies = await page.context().cookies()
  const heidi = await bench.newMember('heidi')
  await page.context().clearCookies()
  await page.context().addCookies(await heidi.context().cookies())
  await page.goto('/new')
  expect(await page.getByText('This browser has an unsaved draft.').count()).toBe(0)
  await page.getByLabel('Title').fill('Of Heidi')
  await expect.poll(() => draftsOf(page)).toContain('Of Heidi')
  await page.goto('/')
  await links.first().waitFor()
  expect(await links.allTextContents()).toEqual(['Of Heidi'])
  await page.context().clearCookies()
  await page.context().addCookies(cookies)
  await page.goto('/')
  await links.first().waitFor()
  expect(await links.allTextContents()).toEqual(['A secret of Willa'])
  await links.first().click()
  await page.getByText('This browser has an unsaved draft.').waitFor()
})

it('a writer makes a skill from a zip, edits its files beside a preview, and gives it out', async () => {
  const page = await bench.newMember('sven', { allowed: [/status of 400/] })
  const asked: string[] = []
  page.on('dialog', (dialog) => asked.push(dialog.type()))
  const bytes = Uint8Array.from({ length: 300 }, (_, index) => index % 256)
  const zip = zipSync({
    'tidy/SKILL.md': strToU8('---\nname: tidy\ndescription: Tidy up.\n---\n# Tidy\n'),
    'tidy/scripts/a.py': strToU8('print("a")\r\n'),
    'tidy/logo.bin': bytes,
    'tidy/assets/dot.png': Buffer.from(DOT, 'base64'),
  })
  // Its title comes from SKILL.md.
  await page.goto('/new/skill')
  await page
    .getByLabel('Files from your computer')
    .setInputFiles({ name: 'tidy.zip', mimeType: 'application/zip', buffer: Buffer.from(zip) })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/edit?done=saved')
  const path = new URL(page.url()).pathname.replace(/\/edit$/, '')

  // The editor for files has taken the place of the plain field, which it keeps up to date.
  await page.goto(`${path}/edit?file=scripts/a.py`)
  const source = page.locator('.cm-content')
  await source.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('print("b")')
  await page.getByRole('button', { name: 'Save file' }).click()
  await page.waitForURL('**done=saved')

  // Folders that hold one folder alone are joined, and each name is on one line.
  const add = async (name: string) => {
    await page.getByLabel('New file').fill(name)
    await page.getByRole('button', { name: 'Add' }).click()
  }
  const name = 'references/deeper/one-quite-long-name-of-a-file-that-nobody-wants-to-see-broken.md'
  await add(name)
  await page.waitForURL('**done=file-added')
  const link = page.locator('.tree details').getByRole('link', { name: name.split('/').at(-1) ?? '' })
  expect(await link.evaluate((one) => one.getClientRects().length)).toBe(1)
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)

  // What is typed is seen, links between the files too, and nothing of it runs.
  const preview = page.locator('.live')
  await source.click()
  await page.keyboard.type('See [the head](../../SKILL.md). <img src=x onerror=alert(1)>')
  const head = preview.getByRole('link', { name: 'the head' })
  await head.waitFor()
  expect(await head.getAttribute('href')).toBe(`${path}/edit?file=SKILL.md`)
  expect(await preview.locator('img').count()).toBe(0)
  for (const place of [source, preview, page.getByLabel('Visibility'), page.getByLabel('Category')]) {
    const isInView = await place.evaluate((one) => {
      const { top, bottom, width } = one.getBoundingClientRect()
      return width > 0 && bottom > 0 && top < innerHeight
    })
    expect(isInView).toBe(true)
  }
  await expect.poll(() => draftsOf(page)).toContain('See [the head]')
  await page.getByRole('link', { name: 'SKILL.md', exact: true }).click()
  await page.waitForURL('**?file=SKILL.md')
  expect(asked).toEqual(['beforeunload'])
  await page.goBack()
  await page.getByRole('button', { name: 'Restore draft' }).click()
  await head.waitFor()
  await source.click()
  await page.keyboard.press('Control+s')
  await page.waitForURL('**done=saved')

  // Enter in the name of a file renames it and saves nothing else: what was typed is still a draft of the old name.
  await add('a.txt')
  await page.waitForURL('**done=file-added')
  await source.click()
  await page.keyboard.type('typed')
  await expect.poll(() => draftsOf(page)).toContain('typed')
  const renamed = page.getByLabel('New name for a.txt')
  await renamed.fill('b.txt')
  await renamed.press('Enter')
  await page.waitForURL('**?file=b.txt&done=renamed')
  const drafts = await page.evaluate(() => Object.entries(localStorage).filter(([key]) => key.includes('a.txt')))
  expect(drafts.map(([, draft]) => JSON.parse(draft))).toEqual([{ values: { content: 'typed' }, isSent: false }])

  // The key saves the form that has the focus, and asks nothing.
  await page.getByLabel('Visibility').selectOption('public')
  await page.keyboard.press('Control+s')
  await page.waitForURL('**/edit?done=saved')
  expect(await page.getByLabel('Visibility').inputValue()).toBe('public')
  // The second question was for what was typed before the file was renamed.
  expect(asked).toEqual(['beforeunload', 'beforeunload'])

  // Faults lead to their fields: a file that is there, a name that is none, a title that is missing.
  const alert = page.getByRole('alert')
  const focus = () => page.evaluate(() => document.activeElement?.id)
  await add('SKILL.md')
  await alert.getByRole('link', { name: 'New file' }).click()
  expect(await focus()).toBe('field-newFilename')
  expect(await page.getByText('The skill has a file SKILL.md already.').isVisible()).toBe(true)
  await page.goto(`${path}/edit?file=${encodeURIComponent(name)}`)
  await page.getByLabel(`New name for ${name}`).fill('../up.md')
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.locator('#field-renamed:focus').waitFor()
  await page.getByText('Title and description').click()
  await page.getByLabel('Title').evaluate((field) => field.removeAttribute('required'))
  await page.getByLabel('Title').fill('')
  await page.getByRole('button', { name: 'Save details' }).click()
  await alert.getByRole('link', { name: 'Title' }).click()
  expect(await focus()).toBe('field-title')

  // Readers install it by a command that works, download it whole, and see its picture.
  const reader = await bench.newPage()
  await reader.goto(path)
  await reader.getByText('Install', { exact: true }).click()
  const shown = reader.locator('.install [data-text]:visible')
  await expect.poll(() => shown.allTextContents()).toEqual([`npx skills add ${bench.baseUrl}/skills/tidy`])
  await reader.getByLabel('curl', { exact: true }).check()
  const [download = ''] = ((await shown.textContent())?.trim() ?? '').split(' && ')
  await promisify(execFile)('sh', ['-c', download], { cwd: bench.folder })
  const files = unzipSync(new Uint8Array(await readFile(join(bench.folder, 'tidy.zip'))))
  expect(Object.keys(files).toSorted()).toEqual(
    ['SKILL.md', 'assets/dot.png', 'b.txt', 'logo.bin', name, 'scripts/a.py'].map((file) => `tidy/${file}`),
  )
  expect(files['tidy/logo.bin']).toEqual(bytes)
  expect(new TextDecoder().decode(files['tidy/scripts/a.py'])).toBe('print("a")\r\nprint("b")')
  const saving = reader.waitForEvent('download')
  await reader.getByRole('link', { name: 'zip' }).click()
  expect((await saving).suggestedFilename()).toBe('tidy.zip')
  await reader.goto('/skills/tidy?file=assets/dot.png')
  const picture = reader.getByRole('img', { name: 'assets/dot.png' })
  expect(await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(1)
})
