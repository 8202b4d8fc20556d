import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { lookForBarriers, signIn, signUpInBrowser, useBrowser, VIEWPORTS } from '../support/browser.ts'
import { eventually, startModelServer } from '../support/model-server.ts'

/** Suggested versions of a model, in a browser. */

const models = await startModelServer()
afterAll(() => models.stop())

const BEFORE = 'Write a mail\nto  my customer about ${order} and <b>say</b> when it comes'
const AFTER = 'Write A mail\nto  MY customer about ${order} and <b>say</b> WHEN it comes'

const textOf = (page: Page) => page.getByLabel('Text', { exact: true }).inputValue()

/** A service with this model, and what opens its editor and has a text improved. */
function useModel(model: string) {
  const bench = useBrowser({ env: { IMPROVE_MODEL: model, OPENAI_BASE_URL: models.baseUrl, OPENAI_API_KEY: 'sk-test' } })
  let isSignedUp = false
  return async (options: Parameters<typeof bench.newPage>[0] = {}): Promise<Page> => {
    const page = await bench.newPage(options)
    if (isSignedUp) await signIn(page, 'ada')
    else await signUpInBrowser(page, 'ada')
    isSignedUp = true
    await page.goto('/new')
    await page.getByLabel('Text', { exact: true }).fill(BEFORE)
    await page.getByRole('button', { name: 'Improve' }).click()
    return page
  }
}

describe('a suggested version', () => {
  const open = useModel('edits')
  const improve = async (options?: Parameters<typeof open>[0]) => {
    const page = await open(options)
    await page.getByRole('button', { name: 'Replace with this' }).waitFor()
    return page
  }

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

  it('has boxes for two to a hundred changes', async () => {
    const page = await improve()
    const text = page.getByLabel('Text', { exact: true })
    const boxesFor = async (words: number) => {
      await text.fill(Array.from({ length: words }, (_, n) => `word${n}`).join(' '))
      await page.getByRole('button', { name: 'Improve' }).click()
      await page.locator('#improved ins').getByText('WORD1', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Keep mine' }).waitFor()
      return [await page.locator('#improved ins').count(), await page.locator('#improved input[type="checkbox"]').count()]
    }
    expect(await boxesFor(3)).toEqual([1, 0])
    expect(await boxesFor(6)).toEqual([2, 2])
    expect(await boxesFor(300)).toEqual([100, 100])
    expect(await boxesFor(303)).toEqual([101, 0])
    await page.getByRole('button', { name: 'Replace with this' }).click()
    expect((await textOf(page)).match(/WORD/g)?.length).toBe(101)
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

describe('a text that is being written', () => {
  const improve = useModel('slow:page')

  it('is shown as it comes; stopping or leaving ends the call to the model', async () => {
    const page = await improve()
    const hasLeft = async () => (await models.log('slow:page')).map((call) => call.hasLeft)
    const text = page.locator('form > section:last-child .text')
    await text.getByText('0 1 2 3').waitFor()
    expect([await textOf(page), await hasLeft()]).toEqual([BEFORE, [false]])
    const [first, later] = [await text.textContent(), await text.getByText('8 9 10').textContent()]
    expect(later?.startsWith(first ?? '-')).toBe(true)
    // Nothing can be taken before it is whole.
    expect(await page.getByRole('button', { name: 'Replace with this' }).count()).toBe(0)
    await page.getByRole('button', { name: /^Improving… \d+ s$/ }).click()
    await page.getByText('Stopped. Your text is unchanged.').waitFor()
    expect([await textOf(page), await text.count()]).toEqual([BEFORE, 0])
    expect(await eventually(async () => (await hasLeft())[0] === true)).toBe(true)

    await page.getByRole('button', { name: 'Improve' }).click()
    await text.getByText('0 1 2 3').waitFor()
    await page.close()
    expect(await eventually(async () => (await hasLeft())[1] === true)).toBe(true)
  })
})

describe('a text that cannot be used', () => {
  const improve = useModel('forgets-once:page')

  it('gives way to the next', async () => {
    const page = await improve()
    await page.getByRole('button', { name: 'Replace with this' }).click()
    expect(await textOf(page)).toBe(`Write it well: ${BEFORE}`)
  })
})

describe('a model that fails', () => {
  const improve = useModel('cut:page')

  it('is told of, and the text stays', async () => {
    const page = await improve()
    await page.getByRole('status').getByText('The response of cut:page was cut off.').waitFor()
    expect([await textOf(page), await page.getByRole('heading', { name: 'Suggested version' }).count()]).toEqual([BEFORE, 0])
  })
})
