import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { signIn, signUpInBrowser, useBrowser } from '../support/browser.ts'

describe('somebody who collects', () => {
  const bench = useBrowser()
  const TITLES = ['One', 'Two', 'Three', 'Four', 'Five']
  let isMember = false
  beforeAll(async () => {
    const key = await bench.createKey('Ada')
    for (const title of TITLES) await bench.save(key, 'prompt', { title, content: `Text ${title}` })
  })

  const enter = async (page: Page) => {
    if (isMember) return await signIn(page, 'grace')
    await signUpInBrowser(page, 'grace')
    isMember = true
  }
  const order = async (page: Page) => await page.locator('.rows h3').allTextContents()

  it('puts items into a new collection from their pages, and moves and removes them with buttons, without a script', async () => {
    const page = await bench.newPage({ hasScript: false })
    await enter(page)
    await page.goto('/prompts/one')
    await page.getByRole('link', { name: 'Add to collection' }).click()
    await page.getByLabel('Title').fill('Counting')
    await page.getByLabel('Who else sees it').selectOption('public')
    await page.getByRole('button', { name: 'Create and add' }).click()
    await page.getByText('Added to the collection.').waitFor()
    for (const slug of ['two', 'three', 'four', 'five']) {
      await page.goto(`/prompts/${slug}/collections`)
      await page.getByRole('button', { name: 'Add to Counting' }).click()
      await page.getByText('Added to the collection.').waitFor()
    }
    await page.goto('/collections')
    await page.getByRole('link', { name: 'Counting' }).click()
    expect(await order(page)).toEqual(TITLES)
    expect(await page.getByRole('button', { name: 'Move One up' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Move Three up' }).click()
    await page.getByText('Moved.').waitFor()
    expect(await order(page)).toEqual(['One', 'Three', 'Two', 'Four', 'Five'])
    await page.getByRole('button', { name: 'Move Five to the beginning' }).click()
    await page.getByText('Moved.').waitFor()
    expect(await order(page)).toEqual(['Five', 'One', 'Three', 'Two', 'Four'])
    await page.getByRole('button', { name: 'Remove Two from the collection' }).click()
    await page.getByText('Removed from the collection.').waitFor()
    expect(await order(page)).toEqual(['Five', 'One', 'Three', 'Four'])
  })

  it('drags items to another place, which stays after a reload', async () => {
    const page = await bench.newPage()
    await enter(page)
    await page.goto('/collections/counting')
    const drag = async (title: string, onto: string, half: 'upper' | 'lower') => {
      const rowOf = (name: string) => page.locator('.rows > li').filter({ has: page.getByRole('link', { name, exact: true }) })
      const from = await rowOf(title).locator('.handle').boundingBox()
      const to = await rowOf(onto).boundingBox()
      if (!from || !to) throw new Error('Both rows are in view.')
      await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2)
      await page.mouse.down()
      await page.mouse.move(to.x + 40, to.y + to.height * (half === 'upper' ? 0.25 : 0.75), { steps: 8 })
      const answer = page.waitForResponse((response) => response.request().method() === 'POST')
      await page.mouse.up()
      expect((await answer).status()).toBe(303)
    }
    await drag('Four', 'Five', 'upper')
    expect(await order(page)).toEqual(['Four', 'Five', 'One', 'Three'])
    await expect.poll(() => page.locator('[data-said]').textContent()).toBe('Moved Four.')
    expect(await page.getByRole('button', { name: 'Move Four up' }).isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: 'Move Five up' }).isDisabled()).toBe(false)
    await drag('Five', 'Three', 'lower')
    expect(await order(page)).toEqual(['Four', 'One', 'Three', 'Five'])
    await page.reload()
    expect(await order(page)).toEqual(['Four', 'One', 'Three', 'Five'])
  })

  it('is told when the order could not be saved, and sees what it is', async () => {
    const page = await bench.newPage({ allowed: [/ERR_FAILED/] })
    await enter(page)
    await page.goto('/collections/counting')
    const before = await order(page)
    await page.route('**/collections/counting', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
    const handle = await page.locator('.handle').first().boundingBox()
    const last = await page.locator('.rows > li').last().boundingBox()
    if (!handle || !last) throw new Error('Both rows are in view.')
    await page.mouse.move(handle.x + 5, handle.y + 5)
    await page.mouse.down()
    await page.mouse.move(last.x + 40, last.y + last.height * 0.75, { steps: 5 })
    await page.mouse.up()
    await page.getByText('The order was not saved.').waitFor()
    expect(await order(page)).toEqual(before)
  })
})
