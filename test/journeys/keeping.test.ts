import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { lookForBarriers, signUpInBrowser, useBrowser } from '../support/browser.ts'
import { PASSWORD } from '../support/visitor.ts'

describe('a member who keeps a library', () => {
  const bench = useBrowser()
  beforeAll(async () => {
    const key = await bench.createKey('Ada')
    for (const title of ['Kaleidoscope maker', 'Letter']) await bench.save(key, 'prompt', { title, content: 'A text about kaleidoscopes.' })
  })

  let isMember = false
  /** Signs up once, and in from then on. */
  const enter = async (page: Page) => {
    if (!isMember) {
      await signUpInBrowser(page, 'grace')
      isMember = true
      return
    }
    await page.goto('/sign-in')
    await page.getByLabel('Username or email').fill('grace')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL((url) => url.pathname !== '/sign-in')
  }

  it('marks favourites in a list, in place, and finds them again', async () => {
    const page = await bench.newPage()
    await enter(page)
    await page.goto('/prompts?q=kaleidoscope')
    const star = page.getByRole('button', { name: 'Favourite: Kaleidoscope maker' })
    await star.click()
    await expect.poll(() => star.getAttribute('aria-pressed')).toBe('true')
    expect(new URL(page.url()).search).toBe('?q=kaleidoscope')
    await page.goto('/favourites')
    expect(await page.locator('.rows h3').allTextContents()).toEqual(['Kaleidoscope maker'])
    await star.click()
    await expect.poll(() => star.getAttribute('aria-pressed')).toBe('false')
    await page.reload()
    expect(await page.getByText('No favourite prompts yet.').count()).toBe(1)
  })

  it('re-tags 200 items in four clicks, and takes that back with one', async () => {
    const page = await bench.newPage()
    await enter(page)
    const ownKey = await bench.createKey('grace')
    for (let n = 0; n < 200; n++) await bench.save(ownKey, 'prompt', { title: `Note ${n}`, content: 'A text.', tags: ['old'] })
    let clicks = 0
    const click = async (target: Locator) => {
      clicks++
      await target.click()
    }
    await page.goto('/')
    await click(page.getByRole('link', { name: 'My library' }))
    await click(page.getByLabel('Select all 200'))
    expect(await page.locator('[data-selected]').textContent()).toBe('200 selected')
    await click(page.getByLabel('Tag', { exact: true }))
    await page.keyboard.type('sorted')
    await click(page.getByRole('button', { name: 'Add tag' }))
    await page.getByText('Tag added to 200 items.').waitFor()
    expect(clicks).toBeLessThanOrEqual(4)
    const withTag = async (tag: string) => {
      await page.goto(`/library?tag=${tag}`)
      return await page.locator('.found h2').textContent()
    }
    const undo = page.url()
    expect(await withTag('sorted')).toBe('200 prompts')
    await page.goto(undo)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone for 200 items.').waitFor()
    expect([await withTag('sorted'), await withTag('old')]).toEqual(['Nothing of yours matches.', '200 prompts'])
    // Some of them, by Shift, while the search narrows the list.
    await page.goto('/library')
    await page.getByRole('searchbox', { name: 'Search your library' }).fill('note 19')
    await page.locator('.rows > li').nth(1).waitFor()
    await expect.poll(() => page.locator('.found h2').textContent()).not.toBe('200 prompts')
    await page.locator('.pick input').nth(0).click()
    await page
      .locator('.pick input')
      .nth(3)
      .click({ modifiers: ['Shift'] })
    expect(await page.locator('[data-selected]').textContent()).toBe('4 selected')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    expect((await download).suggestedFilename()).toBe('commonplace-prompts.zip')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Moved 4 items to the trash.').waitFor()
    expect(await lookForBarriers(page, '/library')).toEqual([])
  })

  it('works without a script', async () => {
    const page = await bench.newPage({ hasScript: false })
    await enter(page)
    await page.goto('/library?sort=title')
    await page.getByLabel('Select Note 0', { exact: true }).check()
    await page.getByRole('combobox', { name: 'Visibility' }).selectOption('Private')
    await page.getByRole('button', { name: 'Set visibility' }).click()
    expect(await page.getByText('Visibility set for 1 item.').count()).toBe(1)
    await page.getByRole('button', { name: 'Undo' }).click()
    expect(await page.getByText('Undone for 1 item.').count()).toBe(1)
    await page.getByRole('button', { name: /Favourite: Note 0$/ }).click()
    expect(await page.getByRole('button', { name: /Favourite: Note 0$/ }).getAttribute('aria-pressed')).toBe('true')
  })

  it('finds what it began to write in this browser on the first page', async () => {
    const page = await bench.newPage()
    await enter(page)
    await page.goto('/')
    expect(await page.getByText('Unsaved drafts on this browser').isVisible()).toBe(false)
    const draft = async (path: string, title: string) => {
      await page.goto(path)
      await page.getByLabel('Title').fill(title)
      await expect.poll(() => page.evaluate((text) => JSON.stringify(localStorage).includes(text), title)).toBe(true)
    }
    await draft('/new', 'Begun and left')
    await page.goto('/library?sort=title')
    await draft(`${await page.locator('.rows h3 a').first().getAttribute('href')}/edit`, 'Changed and left')
    await page.goto('/')
    const links = page.locator('[data-drafts] a')
    await links.first().waitFor()
    expect(await links.allTextContents()).toEqual(['Changed and left', 'Begun and left'])
    await links.first().click()
    await page.getByText('This browser has an unsaved draft.').waitFor()
    await page.goto('/')
    // What a page keeps for itself is no draft.
    await page.evaluate(() => localStorage.setItem('draft:grace:new-skill', '{'))
    await page.reload()
    expect(await page.locator('h1').textContent()).toBe('Commonplace')
    expect(await lookForBarriers(page, '/')).toEqual([])
  })
  it('does not show what others began to write in the same browser', async () => {
    const page = await bench.newPage()
    await enter(page)
    // Before keys had names.
    const old = JSON.stringify({ values: { title: 'Nobody knows whose' }, isSent: false })
    await page.evaluate((draft) => localStorage.setItem('draft:new-skill', draft), old)
    await page.goto('/new')
    await page.getByLabel('Title').fill('A secret of Grace')
    await expect.poll(() => page.evaluate(() => JSON.stringify(localStorage).includes('A secret of Grace'))).toBe(true)
    expect(await page.evaluate(() => JSON.stringify(localStorage).includes('Nobody knows whose'))).toBe(false)
    await page.goto('/admin/invites')
    await page.getByRole('button', { name: 'Create invite' }).click()
    const invite = /\/sign-up\?invite=[\w-]+/.exec(await page.content())?.[0] ?? ''
    await page.context().clearCookies()
    await page.goto(invite)
    await page.getByLabel('Username').fill('heidi')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.waitForURL('**/settings/keys?done=welcome')
    await page.goto('/new')
    expect(await page.getByText('This browser has an unsaved draft.').count()).toBe(0)
    const links = page.locator('[data-drafts] a')
    await page.getByLabel('Title').fill('Of Heidi')
    await expect.poll(() => page.evaluate(() => JSON.stringify(localStorage).includes('Of Heidi'))).toBe(true)
    await page.goto('/')
    await links.first().waitFor()
    expect(await links.allTextContents()).toEqual(['Of Heidi'])
    await page.context().clearCookies()
    await enter(page)
    await page.goto('/new')
    await page.getByText('This browser has an unsaved draft.').waitFor()
    await page.goto('/')
    await links.first().waitFor()
    expect(await links.allTextContents()).toContain('A secret of Grace')
    expect(await links.allTextContents()).not.toContain('Of Heidi')
  })
})
