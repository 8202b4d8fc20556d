import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { strToU8, unzipSync, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { signIn, signUpInBrowser, useBrowser } from '../support/browser.ts'

type Bench = ReturnType<typeof useBrowser>
type Page = Awaited<ReturnType<Bench['newPage']>>

describe('from nothing to a key and a prompt', () => {
  const bench = useBrowser()

  it('signs up, makes a key, calls with it, saves a prompt, and revokes the key', async () => {
    const page = await bench.newPage()
    await signUpInBrowser(page, 'ada')
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = (await page.locator('.new-key [data-text]').first().textContent())?.trim() ?? ''
    expect(key).toMatch(/^cpb_[A-Za-z0-9]{49}$/)
    await page.locator('.new-key [data-copy]').first().click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key)
    expect(await page.locator('.new-key').textContent()).toContain(`--header "PROMPTS_API_KEY: ${key}"`)

    await page.getByLabel('Cursor', { exact: true }).check()
    const added = new URL((await page.getByRole('link', { name: 'Add to Cursor' }).getAttribute('href')) ?? '')
    expect(JSON.parse(Buffer.from(added.searchParams.get('config') ?? '', 'base64').toString())).toEqual({
      url: `${bench.baseUrl}/api/mcp`,
      headers: { PROMPTS_API_KEY: key },
    })

    const callTool = async () => {
      const response = await fetch(`${bench.baseUrl}/api/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', PROMPTS_API_KEY: key },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'search_prompts', arguments: { query: 'greeting' } },
        }),
      })
      return { status: response.status, text: await response.text() }
    }
    expect(await page.locator('[data-first-call]').textContent()).toBe('Waiting for the first call with this key…')
    expect((await callTool()).status).toBe(200)
    await page.getByText('First call received ✓').waitFor()
    await page.reload()
    expect(new URL(page.url()).pathname).toBe('/settings/keys')
    expect(await page.locator('.new-key').count()).toBe(0)
    await page.locator('header').getByText('New', { exact: true }).click()
    await page.getByRole('link', { name: 'New prompt' }).click()
    await page.getByLabel('Title').fill('A greeting')
    await page.getByLabel('Text', { exact: true }).fill('Greet ${name} in ${language:English}.')
    await expect.poll(() => page.locator('[data-variables] li').allTextContents()).toEqual(['name required', 'language default: English'])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/prompts/**')
    expect(await page.locator('.notice').textContent()).toBe('Saved · private')
    // It is private: the key finds it, nobody else does.
    expect(await callTool()).toMatchObject({ status: 200, text: expect.stringContaining('A greeting') })
    expect((await (await fetch(`${bench.baseUrl}/api/prompts`)).text()).includes('A greeting')).toBe(false)

    await page.goto('/settings/keys')
    expect(await page.locator('main').textContent()).not.toContain(key)
    // Reloading the page that showed the key made no other.
    expect(await page.locator('.entries > li').count()).toBe(1)
    await page.locator('summary', { hasText: 'Revoke' }).click()
    await page.getByRole('button', { name: 'Revoke My laptop' }).click()
    await page.getByText('Key revoked.').waitFor()
    expect(await callTool()).toMatchObject({ status: 401, text: expect.stringContaining('invalid_api_key') })

    await page.goto('/docs/connect')
    await page.getByRole('button', { name: 'Create a key and fill it in' }).click()
    await page.waitForURL('**/connect?access=key&client=claude-code')
    expect(await page.locator('[data-client="claude-code"] pre').first().textContent()).toMatch(/--header "PROMPTS_API_KEY: cpb_\w+"/)

    // The chosen client is still chosen when the key is there, and its first call is waited for.
    await page.goto('/connect')
    await page.getByLabel('Gemini CLI', { exact: true }).check()
    await page.getByLabel('Yours too, with a key').check()
    await page.getByRole('button', { name: 'Create a key and fill it in' }).click()
    await page.waitForURL('**/connect?access=key&client=gemini-cli')
    const config = (await page.locator('.client pre:visible').textContent()) ?? ''
    const { httpUrl, headers } = JSON.parse(config).mcpServers.commonplace
    const call = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: LIST_TOOLS }
    expect((await fetch(httpUrl, call)).status).toBe(200)
    await page.getByText('First call received ✓').waitFor()
    await page.getByLabel('Codex', { exact: true }).check()
    expect(await page.locator('.client pre:visible').textContent()).toContain(headers.PROMPTS_API_KEY)
    await page.reload()
    expect(await page.locator('main').textContent()).not.toContain(headers.PROMPTS_API_KEY)
  })
})

/** A call that needs nothing. */
const LIST_TOOLS = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

describe('writing', () => {
  const bench = useBrowser()
  let isSignedUp = false
  /** A page of somebody who is signed in. */
  const newWriter = async (options: Parameters<Bench['newPage']>[0] = {}) => {
    const page = await bench.newPage(options)
    if (isSignedUp) await signIn(page, 'ada')
    else await signUpInBrowser(page, 'ada')
    isSignedUp = true
    return page
  }
  const savePrompt = async (page: Page, title: string, content: string) => {
    await page.goto('/new')
    await page.getByLabel('Title').fill(title)
    await page.getByLabel('Text', { exact: true }).fill(content)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/prompts/**')
    return new URL(page.url()).pathname
  }

  it.each([true, false])('saves, edits, compares and restores (with a script: %s)', async (hasScript) => {
    const page = await newWriter({ hasScript })
    const path = await savePrompt(page, 'Four words', 'one two three four')
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Text', { exact: true }).fill('one 2 three four')
    await page.getByLabel('Version note (optional)').fill('A digit.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(`**${path}?done=saved`)
    await page.goto(`${path}/versions/2`)
    expect(await page.locator('del').allTextContents()).toEqual(['two'])
    expect(await page.locator('ins').allTextContents()).toEqual(['2'])
    await page.goto(`${path}/versions/1`)
    await page.getByRole('button', { name: 'Restore this version' }).click()
    await page.waitForURL(`**${path}?done=version-restored`)
    expect(await page.locator('[data-text]').textContent()).toBe('one two three four')
    // One press takes it back, as a version of its own.
    await page.locator('.notice').getByRole('button', { name: 'Undo' }).click()
    await page.waitForURL(`**${path}?done=version-restored`)
    expect(await page.locator('[data-text]').textContent()).toBe('one 2 three four')
    await page.goto(`${path}/versions`)
    expect(await page.locator('main').textContent()).toContain('A digit.')
    expect(await page.locator('.rows > li').count()).toBe(4)
    // Any place of a row leads to its version.
    const row = page.locator('.rows > li').nth(2)
    const box = await row.boundingBox()
    await row.click({ position: { x: (box?.width ?? 0) - 5, y: (box?.height ?? 0) / 2 } })
    await page.waitForURL(`**${path}/versions/2`)
    await page.goto(`${path}/versions`)
    await row.getByRole('link', { name: 'Compare with the newest' }).click()
    await page.waitForURL(`**${path}/versions/4?against=2`)
    expect(await page.locator('main').textContent()).toContain('The text is unchanged.')
    await page.getByRole('combobox', { name: 'Compare' }).selectOption('1')
    await page.getByRole('combobox', { name: 'with' }).selectOption('2')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.waitForURL(`**${path}/versions/2?against=1`)
    expect(await page.locator('ins').allTextContents()).toEqual(['2'])
  })

  it('compares lines beside each other where there is room, and unfolds those that stayed', async () => {
    const page = await newWriter({ hasScript: false })
    const lines = Array.from({ length: 20 }, (_, line) => `line ${line + 1}`)
    const path = await savePrompt(page, 'Many lines', lines.join('\n'))
    await page.goto(`${path}/edit`)
    await page.getByLabel('Text', { exact: true }).fill(lines.with(9, 'another').join('\n'))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(`**${path}?done=saved`)
    await page.goto(`${path}/versions/2`)
    await page.getByRole('link', { name: 'Line by line' }).click()
    const [old, fresh] = [page.locator('.old li:has(del)'), page.locator('.new li:has(ins)')]
    await page.setViewportSize({ width: 1440, height: 900 })
    const beside = [await old.boundingBox(), await fresh.boundingBox()]
    expect(beside[0]?.y).toBe(beside[1]?.y)
    expect(beside[1]?.x).toBeGreaterThan((beside[0]?.x ?? 0) + 400)
    // The wash is as wide as the side.
    expect(beside[0]?.width).toBeGreaterThan(500)
    await page.setViewportSize({ width: 390, height: 844 })
    const below = [await old.boundingBox(), await fresh.boundingBox()]
    expect(below[0]?.x).toBe(below[1]?.x)
    expect(below[1]?.y).toBeGreaterThan(below[0]?.y ?? 0)
    const folded = page.locator('.new').getByText('line 1', { exact: true })
    expect(await folded.isVisible()).toBe(false)
    const summary = page.getByText('6 unchanged lines')
    expect((await summary.boundingBox())?.height).toBeGreaterThanOrEqual(44)
    await summary.click()
    expect(await folded.isVisible()).toBe(true)
  })

  it('does not undo a restore over what was saved since', async () => {
    const page = await newWriter({ allowed: [/status of 409/] })
    const path = await savePrompt(page, 'Twice saved', 'first')
    const saveText = async (writer: Page, text: string) => {
      await writer.goto(`${path}/edit`)
      await writer.getByLabel('Text', { exact: true }).fill(text)
      await writer.getByRole('button', { name: 'Save' }).click()
      await writer.waitForURL('**?done=saved')
    }
    await saveText(page, 'second')
    await page.goto(`${path}/versions/1`)
    await page.getByRole('button', { name: 'Restore this version' }).click()
    await page.waitForURL(`**${path}?done=version-restored`)
    await saveText(await newWriter(), 'third')
    await page.locator('.notice').getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('alert').waitFor()
    await page.goto(path)
    expect(await page.locator('[data-text]').textContent()).toBe('third')
  })

  it('refuses to save over what somebody else saved first, and loses neither', async () => {
    const one = await newWriter({ allowed: [/status of 409/] })
    const path = await savePrompt(one, 'Shared', 'The first text.')
    const two = await newWriter()
    await one.goto(`${path}/edit`)
    await two.goto(`${path}/edit`)
    await two.getByLabel('Title').fill('Shared by two')
    await two.getByLabel('Tags').fill('theirs')
    await two.getByLabel('Text', { exact: true }).fill('The text of two.')
    await two.getByRole('button', { name: 'Save' }).click()
    await two.waitForURL('**?done=saved')
    await one.getByLabel('Text', { exact: true }).fill('The text of one.')
    await one.getByRole('button', { name: 'Save' }).click()
    const alert = one.getByRole('alert')
    expect(await alert.textContent()).toContain('Version 2 was saved after you opened this form')
    const seeConflict = async () => {
      expect(await alert.locator('dt').allTextContents()).toEqual(['Title', 'Tags'])
      const changes = [await alert.locator('del').allTextContents(), await alert.locator('ins').allTextContents()]
      expect(changes).toEqual([[' by two', 'theirs', 'two'], ['one']])
      expect(await one.getByLabel('Text', { exact: true }).inputValue()).toBe('The text of one.')
    }
    await seeConflict()
    // A preview does not make it forgotten.
    await one.getByRole('button', { name: 'Preview', exact: true }).click()
    await one.getByRole('heading', { name: 'Preview', exact: true }).waitFor()
    await seeConflict()
    expect(await one.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
    await one.getByRole('button', { name: 'Overwrite with my version' }).click()
    await one.waitForURL('**?done=saved')
    expect(await one.locator('[data-text]').textContent()).toBe('The text of one.')
    await one.goto(`${path}/versions/2?view=text`)
    expect(await one.locator('main').textContent()).toContain('The text of two.')
  })

  it('keeps what was typed when a field is refused, and a draft when the page is left', async () => {
    const page = await newWriter({ allowed: [/status of 400/] })
    await page.goto('/new')
    await page.getByLabel('Title').fill('Kept')
    await page.getByLabel('Text', { exact: true }).fill('A text\nof two lines')
    await page.getByLabel('Tags').fill('x'.repeat(60))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.locator('#tags-fault').textContent()).toContain('50')
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('A text\nof two lines')
    await page.getByRole('button', { name: /^Remove tag x+$/ }).click()
    await page.getByLabel('Tags').fill('fine')
    await page.getByLabel('Text', { exact: true }).fill('A text that was left')
    await page.waitForTimeout(500)
    await page.goto('/new')
    await page.getByRole('button', { name: 'Restore draft' }).click()
    expect([await page.getByLabel('Title').inputValue(), await page.getByLabel('Text', { exact: true }).inputValue()]).toEqual([
      'Kept',
      'A text that was left',
    ])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**?done=saved')
    await page.goto('/new')
    expect(await page.getByRole('button', { name: 'Restore draft' }).count()).toBe(0)
  })

  it('shows a better text, takes it over, and finds the one before on the way back, without a script', async () => {
    const page = await newWriter({ hasScript: false })
    await page.goto('/new')
    await page.getByLabel('Title').fill('Mail')
    const before = 'write a mail to ${customer} that the delivery is late'
    await page.getByLabel('Text', { exact: true }).fill(before)
    await page.getByRole('button', { name: 'Improve' }).click()
    await page.getByRole('heading', { name: 'Suggested version' }).waitFor()
    expect(await page.getByRole('button', { name: 'Keep mine' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Replace with this' }).click()
    await page.getByRole('heading', { name: 'Preview', exact: true }).waitFor()
    const text = await page.getByLabel('Text', { exact: true }).inputValue()
    expect(text).toContain('${customer}')
    expect(text.length).toBeGreaterThan(100)
    expect(await page.getByLabel('Title').inputValue()).toBe('Mail')
    // No page of the way was the answer to a form, which a browser would have to send again.
    await page.goBack()
    await page.getByRole('heading', { name: 'Suggested version' }).waitFor()
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe(before)
    await page.reload()
    expect(await page.getByLabel('Title').inputValue()).toBe('Mail')
    await page.goForward()
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe(text)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/prompts/*?done=saved')
    await page.goBack()
    await page.getByRole('heading', { name: 'Preview', exact: true }).waitFor()
  })

  it('improves in place: takes the suggestion, undoes it, keeps the own text, and says what is wrong', async () => {
    const page = await newWriter({ allowed: [/status of 400/] })
    await page.goto('/new')
    const text = page.getByLabel('Text', { exact: true })
    const improve = page.getByRole('button', { name: 'Improve' })
    const heading = page.getByRole('heading', { name: 'Suggested version' })
    const before = 'write a mail to ${customer} that the delivery is late'
    // Nothing else has to be filled in yet.
    await text.fill(before)
    await improve.click()
    await heading.waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/new')
    await page.getByRole('button', { name: 'Replace with this' }).click()
    const after = await text.inputValue()
    expect(after).toContain('${customer}')
    expect(after.length).toBeGreaterThan(100)
    expect(await heading.count()).toBe(0)
    await page.getByRole('button', { name: 'Undo' }).click()
    expect(await text.inputValue()).toBe(before)
    await improve.click()
    await page.getByRole('button', { name: 'Keep mine' }).click()
    expect([await text.inputValue(), await heading.count()]).toEqual([before, 0])
    await text.fill('')
    await improve.click()
    await page.getByRole('status').getByText('Text is blank.').waitFor()
  })

  it('stops improving when it is asked to', async () => {
    const page = await newWriter()
    await page.goto('/new')
    await page.getByLabel('Text', { exact: true }).fill('write a mail')
    await page.route('**/new/improve', () => {})
    await page.getByRole('button', { name: 'Improve' }).click()
    await page.getByRole('button', { name: /^Improving… \d+ s$/ }).click()
    await page.getByText('Stopped. Your text is unchanged.').waitFor()
    expect(await page.getByRole('button', { name: 'Improve', exact: true }).count()).toBe(1)
  })

  it('marks variables where they stand, and shows the text as it is copied', async () => {
    const page = await newWriter()
    await page.goto('/new')
    const text = page.getByLabel('Text', { exact: true })
    await text.fill(`To \${name}, \${tone:kindly}.\n\n${'many words '.repeat(600)}\${name}`)
    await page.locator('.live mark').last().waitFor()
    expect(await page.locator('.live mark').allTextContents()).toEqual(['name', 'kindly', 'name'])
    expect(await page.locator('.marked mark').allTextContents()).toEqual(['${name}', '${tone:kindly}', '${name}'])
    // The copy lies under the text, scrolled as far.
    await text.evaluate((field) => field.scrollTo(0, 400))
    await expect.poll(() => page.locator('.marked > div').evaluate((behind) => behind.scrollTop)).toBe(400)
    const heights = await page
      .locator('.marked')
      .evaluate((box) => [...box.children].map((child) => [child.clientWidth, child.scrollHeight]))
    expect(heights[0]?.[0]).toBe(heights[1]?.[0])
    expect(Math.abs((heights[0]?.[1] ?? 0) - (heights[1]?.[1] ?? 0))).toBeLessThanOrEqual(40)
  })

  it('saves by key, with tags as they stand, and asks before unsaved text is left', async () => {
    const page = await newWriter()
    await page.goto('/new')
    await page.getByLabel('Title').fill('By key')
    await page.getByLabel('Text', { exact: true }).fill('A text.')
    const dialogs: string[] = []
    page.on('dialog', (dialog) => dialogs.push(dialog.type()))
    await page.goto('/docs')
    expect(dialogs).toEqual(['beforeunload'])
    await page.goto('/new')
    await page.getByLabel('Title').fill('By key')
    await page.getByLabel('Text', { exact: true }).fill('A text.')
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
    await page.goto(`${new URL(page.url()).pathname}/edit`)
    expect(await page.locator('input[name="tags"]').inputValue()).toBe('two, three')
    // Nothing was typed here.
    await page.goto('/')
    expect(dialogs).toEqual(['beforeunload'])
  })

  it('leads to the fields that are refused, and shows the first whole', async () => {
    const page = await newWriter({ allowed: [/status of 400/] })
    await page.goto('/new')
    await page.getByLabel('Title').fill('Many tags')
    await page.getByLabel('Text', { exact: true }).fill('A text.')
    await page.getByLabel('Tags').fill(Array.from({ length: 11 }, (_, n) => `tag${n}`).join(','))
    await page.getByRole('button', { name: 'Save' }).click()
    const alert = page.getByRole('alert')
    expect((await alert.textContent())?.trim()).toBe('Please correct 1 field: Tags.')
    // The browser moves the focus when it first draws the page.
    await page.locator('#field-tags:focus').waitFor()
    await page.getByLabel('Title').focus()
    await alert.getByRole('link', { name: 'Tags' }).click()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('field-tags')
  })

  it('renames a file by Enter in its name, and saves nothing else', async () => {
    const page = await newWriter()
    await page.goto('/new/skill')
    await page.getByLabel('Title').fill('Renamed')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/edit?done=saved')
    const path = new URL(page.url()).pathname.replace(/\/edit$/, '')
    await page.getByLabel('New file').fill('a.txt')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.waitForURL('**done=file-added')
    await page.locator('.cm-content').click()
    await page.keyboard.type('typed')
    await page.waitForTimeout(500)
    const name = page.getByLabel('New name for a.txt')
    await name.fill('b.txt')
    await name.press('Enter')
    await page.waitForURL('**?file=b.txt&done=renamed')
    await page.goto(`${path}/versions`)
    expect(await page.locator('.rows > li').count()).toBe(3)
    // What was typed and not saved is still offered under its old name.
    const drafts = await page.evaluate(() => Object.entries(localStorage).filter(([key]) => key.includes('a.txt')))
    expect(drafts.map(([, draft]) => JSON.parse(draft))).toEqual([{ values: { content: 'typed' }, isSent: false }])
  })

  it('edits a skill beside its preview, saves by key, and asks before unsaved text is left', async () => {
    const page = await newWriter({ allowed: [/status of 400/] })
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto('/new/skill')
    await page.getByLabel('Title').fill('Beside')
    await page.getByLabel('SKILL.md').fill('---\nname: beside\n---\n# Seen at once')
    const preview = page.locator('.live')
    await preview.getByRole('heading', { name: 'Seen at once' }).waitFor()
    await page.keyboard.press('Control+s')
    await page.waitForURL('**/edit?done=saved')
    const path = new URL(page.url()).pathname

    const name = 'references/deeper/one-quite-long-name-of-a-file-that-nobody-wants-to-see-broken.md'
    await page.getByLabel('New file').fill(name)
    await page.getByRole('button', { name: 'Add' }).click()
    await page.waitForURL('**done=file-added')
    // Folders in folders, and each name on one line.
    const link = page.locator('.tree details details').getByRole('link', { name: name.split('/').at(-1) ?? '' })
    expect(await link.evaluate((one) => one.getClientRects().length)).toBe(1)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)

    // What is typed is seen, links between the files too, and nothing of it runs.
    const source = page.locator('.cm-content')
    await source.click()
    await page.keyboard.type('See [the head](../../SKILL.md). <img src=x onerror=alert(1)>')
    await preview.getByRole('link', { name: 'the head' }).waitFor()
    expect(await preview.getByRole('link', { name: 'the head' }).getAttribute('href')).toBe(`${path}?file=SKILL.md`)
    expect(await preview.locator('img').count()).toBe(0)
    for (const place of [source, preview, page.getByLabel('Visibility'), page.getByLabel('Category')]) {
      expect(await isInView(place)).toBe(true)
    }
    await page.waitForTimeout(500)
    const asked: string[] = []
    page.on('dialog', (dialog) => asked.push(dialog.type()))
    await page.getByRole('link', { name: 'SKILL.md', exact: true }).click()
    await page.waitForURL('**?file=SKILL.md')
    expect(asked).toEqual(['beforeunload'])
    await page.goBack()
    await page.getByRole('button', { name: 'Restore draft' }).click()
    await preview.getByRole('link', { name: 'the head' }).waitFor()
    await source.click()
    await page.keyboard.press('Control+s')
    await page.waitForURL('**done=saved')

    // The key saves the form that has the focus.
    await page.getByLabel('Visibility').selectOption('unlisted')
    await page.keyboard.press('Control+s')
    await page.waitForURL('**/edit?done=saved')
    expect(await page.getByLabel('Visibility').inputValue()).toBe('unlisted')
    expect(asked).toEqual(['beforeunload'])

    // A file is not emptied by adding it again, and the fault leads to its field.
    await page.getByLabel('New file').fill('SKILL.md')
    await page.getByRole('button', { name: 'Add' }).click()
    const alert = page.getByRole('alert')
    await alert.getByRole('link', { name: 'New file' }).click()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('field-newFilename')
    expect(await page.getByText('The skill has a file SKILL.md already.').isVisible()).toBe(true)
    await page.goto(`${path}?file=${encodeURIComponent(name)}`)
    await page.getByLabel(`New name for ${name}`).fill('../up.md')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.locator('#field-renamed:focus').waitFor()
    expect((await alert.textContent())?.trim()).toBe('Please correct 1 field: New name.')
    await page.getByText('Title and description').click()
    await page.getByLabel('Description').fill('x'.repeat(10))
    await page.getByLabel('Title').evaluate((field: HTMLInputElement) => field.removeAttribute('required'))
    await page.getByLabel('Title').fill('')
    await page.getByRole('button', { name: 'Save details' }).click()
    await alert.getByRole('link', { name: 'Title' }).click()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('field-title')
  })

  it('votes and takes the vote back; deletes and restores', async () => {
    const page = await newWriter()
    const path = await savePrompt(page, 'Liked', 'x')
    await page.getByRole('button', { name: 'Upvote' }).click()
    await page.getByText('1 vote').waitFor()
    expect(await page.locator('.notice').textContent()).toBe('Upvoted.')
    await page.getByRole('button', { name: 'Remove vote' }).click()
    await page.getByRole('button', { name: 'Upvote' }).waitFor()
    expect(await page.locator('.notice').textContent()).toBe('Vote removed.')
    const remove = page.getByRole('button', { name: 'Delete' })
    expect(await remove.isVisible()).toBe(false)
    await page.locator('summary[aria-label="More actions"]').click()
    await remove.click()
    await page.waitForURL('**/trash?done=deleted')
    await page.getByRole('button', { name: 'Restore Liked' }).click()
    await page.waitForURL(`**${path}?done=restored`)
  })

  it('sees who can see their item, and makes it public after being asked', async () => {
    const page = await newWriter()
    const path = await savePrompt(page, 'Shown soon', 'x')
    const badge = page.locator('.titled .badge')
    expect(await badge.textContent()).toBe('Private')
    expect(await badge.evaluate((one) => getComputedStyle(one, '::before').maskImage)).toContain('data:image/svg+xml')
    // Nobody else would open its address.
    expect(await page.getByRole('button', { name: 'Share' }).count()).toBe(0)
    const open = page.locator('summary', { hasText: 'Make public' })
    await open.focus()
    await page.keyboard.press('Enter')
    const confirm = page.getByRole('button', { name: 'Make public' })
    expect(await page.locator('.menu[open] p').textContent()).toMatch(/^Everyone can then read it/)
    await page.keyboard.press('Escape')
    expect(await confirm.isVisible()).toBe(false)
    expect(await open.evaluate((one) => one === document.activeElement)).toBe(true)
    await open.click()
    await page.getByRole('heading', { level: 1 }).click()
    expect(await confirm.isVisible()).toBe(false)
    await open.click()
    await confirm.click()
    await page.waitForURL('**/prompts/shown-soon?done=published')
    expect(path).not.toBe('/prompts/shown-soon')
    expect(await page.locator('.notice').textContent()).toBe('Published. Everyone can read it now. You can undo this for ten minutes.')
    expect([await badge.textContent(), await open.count()]).toEqual(['Public', 0])
    const stranger = await bench.newPage()
    await stranger.goto('/prompts/shown-soon')
    expect([await stranger.locator('h1').textContent(), await stranger.locator('.badge').count()]).toEqual(['Shown soon', 0])
    await stranger.getByRole('button', { name: 'Share' }).click()
    await stranger.getByRole('button', { name: 'Link copied' }).waitFor()
    expect(await stranger.evaluate(() => navigator.clipboard.readText())).toBe(`${bench.baseUrl}/prompts/shown-soon`)
  })

  it('takes a skill in as a zip, changes it, and gives it out as one', async () => {
    const page = await newWriter()
    const bytes = Uint8Array.from({ length: 300 }, (_, index) => index % 256)
    const zip = zipSync({
      'tidy/SKILL.md': strToU8('---\nname: tidy\ndescription: Tidy up.\n---\n# Tidy\n'),
      'tidy/scripts/a.py': strToU8('print("a")\r\n'),
      'tidy/logo.bin': bytes,
    })
    const file = join(bench.place.folder, 'tidy.zip')
    await writeFile(file, zip)
    await page.goto('/new/skill')
    await page.getByLabel('Title').fill('Tidy')
    await page.getByLabel('Files from your computer').setInputFiles(file)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/edit?done=saved')
    const path = new URL(page.url()).pathname.replace(/\/edit$/, '')

    // The editor for files has taken the place of the plain field, which it keeps up to date.
    await page.goto(`${path}/edit?file=scripts/a.py`)
    const editor = page.locator('.cm-content')
    await editor.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('print("b")')
    await page.getByRole('button', { name: 'Save file' }).click()
    await page.waitForURL('**done=saved')
    await page.getByLabel('New file').fill('references/more.md')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.waitForURL('**done=file-added')
    await page.getByLabel('New name for references/more.md').fill('references/api.md')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.waitForURL('**done=renamed')

    await page.goto(path)
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'zip' }).click()
    const files = unzipSync(new Uint8Array(await readFile(await (await downloading).path())))
    const top = Object.keys(files)[0]?.split('/')[0] ?? ''
    expect(
      Object.keys(files)
        .map((name) => name.slice(top.length + 1))
        .toSorted(),
    ).toEqual(['SKILL.md', 'logo.bin', 'references/api.md', 'scripts/a.py'])
    expect(files[`${top}/logo.bin`]).toEqual(bytes)
    expect(new TextDecoder().decode(files[`${top}/scripts/a.py`])).toBe('print("a")\r\nprint("b")')
  })
})

describe('a writer that wants to be a program', () => {
  const bench = useBrowser()
  const ATTACK = `</textarea></title><script>alert(1)</script>"><img src=x onerror=alert(2)>'`
  it('stays a text in every form and on every page of their own', async () => {
    const page = await bench.newPage({ allowed: [/status of 40[0139]/] })
    await signUpInBrowser(page, 'mallory')
    await page.goto('/settings')
    await page.getByLabel('Display name').fill(ATTACK)
    await page.getByLabel('About you').fill(ATTACK)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved.').waitFor()
    await page.goto('/settings/keys')
    await page.getByLabel('Key name').fill(ATTACK)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.goto('/new')
    for (const label of ['Title', 'Description']) await page.getByLabel(label).fill(ATTACK)
    await page.getByLabel('Text', { exact: true }).fill(`${ATTACK} \${name:${ATTACK}}`)
    await page.getByLabel('Tags').fill('<b>a</b>, "x')
    await page.getByRole('button', { name: 'Preview', exact: true }).click()
    await page.getByRole('button', { name: 'Improve' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/prompts/**')
    const path = new URL(page.url()).pathname
    await page.goto(`${path}/edit`)
    await page.getByLabel('Version note (optional)').fill(ATTACK)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/prompts/**?done=saved')
    for (const address of [
      `${path}/edit`,
      `${path}/versions`,
      `${path}/versions/1`,
      '/library',
      '/@mallory',
      '/settings',
      '/settings/keys',
      '/admin/people',
      `/sign-in?to=${ATTACK}`,
      `/admin/people?q=${ATTACK}`,
      `/admin/invites?username=${ATTACK}`,
    ]) {
      await page.goto(address)
    }
    await page.goto('/admin/categories')
    await page.getByLabel('Category name').fill(ATTACK.slice(0, 60))
    await page.getByRole('button', { name: 'Create category' }).click()
    await page.goto('/new')
    // A script that ran would have opened a dialog, which fails the test by itself.
    expect(await page.locator('img[src="x"]').count()).toBe(0)
  })
})

describe('an import', () => {
  const bench = useBrowser()

  it('takes what is dropped, shows it, and goes on by itself to the end', async () => {
    const page = await bench.newPage()
    await signUpInBrowser(page, 'ada')
    await page.goto('/import')
    await page.getByRole('button', { name: 'Check files' }).click()
    await expect.poll(() => page.locator('form [data-said]').textContent()).toBe('Choose at least one file.')

    const lines = Array.from({ length: 130 }, (_, n) => JSON.stringify({ title: `Prompt ${n + 1}`, content: `Text ${n + 1}.` })).join('\n')
    const transfer = await page.evaluateHandle((text) => {
      const made = new DataTransfer()
      made.items.add(new File([text], 'many.jsonl'))
      made.items.add(new File(['Hello.'], 'hello.md'))
      return made
    }, lines)
    await page.dispatchEvent('main', 'drop', { dataTransfer: transfer })
    await page.waitForURL('**/import/*-*')
    expect(await page.getByRole('row').count()).toBe(101)
    expect(await page.getByRole('link', { name: 'New 131' }).count()).toBe(1)
    const answers: number[] = []
    page.on('response', (response) => {
      if (response.request().method() === 'POST') answers.push(response.status())
    })
    await page.getByRole('button', { name: 'Import 131 items' }).click()
    await page.getByText('The import is complete.').waitFor()
    expect(new Set(answers)).toEqual(new Set([303]))
    expect(await page.getByRole('link', { name: 'Created 131' }).count()).toBe(1)
    await page.getByRole('link', { name: 'Prompt 7', exact: true }).click()
    await page.getByText('Text 7.').waitFor()
  })

  it('takes a folder from the picker', async () => {
    const page = await bench.newPage()
    await signIn(page, 'ada')
    await page.goto('/import')
    const folder = join(bench.place.folder, 'mine')
    await mkdir(join(folder, 'pdf'), { recursive: true })
    await writeFile(join(folder, 'pdf', 'SKILL.md'), '---\nname: pdf\ndescription: Reads.\n---\n# PDF\n')
    await writeFile(join(folder, 'pdf', 'run.py'), 'print(1)\n')
    await page.getByLabel('Or a folder').setInputFiles(folder)
    await page.getByRole('button', { name: 'Check files' }).click()
    await page.waitForURL('**/import/*-*')
    expect(await page.getByRole('row').nth(1).textContent()).toContain('pdf/SKILL.md')
    await page.getByRole('button', { name: 'Import 1 item' }).click()
    await page.getByRole('link', { name: 'pdf', exact: true }).click()
    await page.getByText('run.py').first().waitFor()
  })
})

/** Whether a part of it is where the page is looked at. */
async function isInView(place: ReturnType<Page['locator']>): Promise<boolean> {
  return await place.evaluate((one) => {
    const { top, bottom, width } = one.getBoundingClientRect()
    return width > 0 && bottom > 0 && top < innerHeight
  })
}
