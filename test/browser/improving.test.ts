import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { lookForBarriers, signIn, signUpInBrowser, useBrowser, VIEWPORTS } from '../support/browser.ts'
import { startModelServer } from '../support/model-server.ts'

/** Suggested versions of a model, in a browser. */

const models = await startModelServer()
afterAll(() => models.stop())

const BEFORE = 'Write a mail\nto  my customer about ${order} and <b>say</b> when it comes'
const AFTER = 'Write A mail\nto  MY customer about ${order} and <b>say</b> WHEN it comes'

describe('a suggested version', () => {
  const bench = useBrowser({ env: { IMPROVE_MODEL: 'edits', OPENAI_BASE_URL: models.baseUrl, OPENAI_API_KEY: 'sk-test' } })
  let isSignedUp = false
  const improve = async (options: Parameters<typeof bench.newPage>[0] = {}): Promise<Page> => {
    const page = await bench.newPage(options)
    if (isSignedUp) await signIn(page, 'ada')
    else await signUpInBrowser(page, 'ada')
    isSignedUp = true
    await page.goto('/new')
    await page.getByLabel('Text', { exact: true }).fill(BEFORE)
    await page.getByRole('button', { name: 'Improve' }).click()
    await page.getByRole('heading', { name: 'Suggested version' }).waitFor()
    return page
  }
  const textOf = (page: Page) => page.getByLabel('Text', { exact: true }).inputValue()

  it('has a box for each change, by keyboard too', async () => {
    const page = await improve()
    const boxes = page.getByRole('checkbox', { name: /^Change \d of 3: / })
    expect(await boxes.evaluateAll((all) => all.map((box) => box instanceof HTMLInputElement && box.checked))).toEqual([true, true, true])
    await page.getByRole('checkbox', { name: /^Change 1 of 3: / }).focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    expect(await boxes.evaluateAll((all) => all.map((box) => box instanceof HTMLInputElement && box.checked))).toEqual([false, true, false])
    // Words that are not taken are struck through.
    const struck = (words: string) => page.locator(words).evaluateAll((all) => all.map((one) => getComputedStyle(one).textDecorationLine))
    expect(await struck('.change ins')).toEqual(['line-through', 'underline', 'line-through'])
    expect(await struck('.change del')).toEqual(['none', 'line-through', 'none'])
    await page.getByRole('button', { name: 'Use 1 of 3 changes' }).click()
    expect(await textOf(page)).toBe(BEFORE.replace('my', 'MY'))
    await page.getByText('Took 1 of 3 changes.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    expect(await textOf(page)).toBe(BEFORE)
  })

  it('is taken whole when all are ticked, and not when none is', async () => {
    const page = await improve()
    const boxes = page.getByRole('checkbox', { name: /^Change \d of 3: / })
    for (const box of await boxes.all()) await box.uncheck()
    expect(await page.getByRole('button', { name: 'Use 0 of 3 changes' }).isDisabled()).toBe(true)
    for (const box of await boxes.all()) await box.check()
    await page.getByRole('button', { name: 'Replace with this' }).click()
    expect(await textOf(page)).toBe(AFTER)
    await page.getByText('Replaced with the suggested version.').waitFor()
  })

  it('is taken in part without a script', async () => {
    const page = await improve({ hasScript: false })
    await page.getByRole('checkbox', { name: /^Change 2 of 3: / }).uncheck()
    await page.getByRole('button', { name: 'Replace with this' }).click()
    await page.getByRole('heading', { name: 'Preview', exact: true }).waitFor()
    expect(await textOf(page)).toBe(AFTER.replace('MY', 'my'))
  })

  it('has no barriers, and targets for fingers', async () => {
    const page = await improve()
    await page.getByRole('checkbox', { name: /^Change 2 of 3: / }).uncheck()
    expect(await lookForBarriers(page, 'suggestion')).toEqual([])
    for (const [viewport, least] of [
      ['desktop', 24],
      ['phone', 44],
    ] as const) {
      await page.setViewportSize(VIEWPORTS[viewport])
      const sizes = await page.locator('.change > span:first-child').evaluateAll((all) =>
        all.flatMap((one) => {
          const { width, height } = one.getBoundingClientRect()
          return [width, height]
        }),
      )
      expect(sizes.length).toBe(6)
      expect(Math.min(...sizes)).toBeGreaterThanOrEqual(least)
    }
  })
})
