import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { useSharedService, VIEWPORTS } from '../support/browser.ts'

const bench = useSharedService()
const TEXT = 'Write a mail\nto  my customer about ${order} and <b>say</b> when it comes\n[edits]'
const BETTER = 'Write A mail\nto  MY customer about ${order} and <b>say</b> WHEN it comes\n[edits]'

const log = z.array(z.object({ messages: z.array(z.object({ content: z.string() })), hasLeft: z.boolean() }))
/** Whether the service left the model, for each call about a text. */
async function readLeft(text: string): Promise<boolean[]> {
  const calls = log.parse(await (await fetch(new URL('/log', bench.modelsUrl))).json())
  return calls.filter(({ messages }) => messages.some(({ content }) => content.includes(text))).map(({ hasLeft }) => hasLeft)
}

it('a writer improves a text: takes all of it, a part or nothing, stops it, and is told when it fails', async () => {
  const page = await bench.newMember('iris', { allowed: [/status of 400/] })
  const text = page.getByLabel('Text', { exact: true })
  const heading = page.getByRole('heading', { name: 'Suggested version' })
  const improve = async (from: Page, content: string) => {
    await from.getByLabel('Text', { exact: true }).fill(content)
    await from.getByRole('button', { name: 'Improve', exact: true }).click()
  }

  // Each change has a box, by keyboard too; what is not taken is struck through.
  await page.goto('/new')
  await improve(page, TEXT)
  await heading.waitFor()
  const boxes = page.getByRole('checkbox', { name: /^Change \d of 3: / })
  const checked = () => boxes.evaluateAll((all) => all.map((box) => box instanceof HTMLInputElement && box.checked))
  await page.getByRole('button', { name: 'Replace with this' }).waitFor()
  expect(await checked()).toEqual([true, true, true])
  for (const [viewport, least] of [
    ['phone', 44],
    ['desktop', 24],
  ] as const) {
    await page.setViewportSize(VIEWPORTS[viewport])
    const sizes = await page
      .locator('.change > span:first-child')
      .evaluateAll((all) => all.flatMap((one) => [one.getBoundingClientRect().width, one.getBoundingClientRect().height]))
    expect(sizes.length).toBe(6)
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(least)
  }
  await boxes.first().focus()
  for (const key of ['Space', 'Tab', 'Tab', 'Space']) await page.keyboard.press(key)
  expect(await checked()).toEqual([false, true, false])
  const struck = (words: string) => page.locator(words).evaluateAll((all) => all.map((one) => getComputedStyle(one).textDecorationLine))
  expect(await struck('.change ins')).toEqual(['line-through', 'underline', 'line-through'])
  expect(await struck('.change del')).toEqual(['none', 'line-through', 'none'])
  await page.getByRole('button', { name: 'Use 1 of 3 changes' }).click()
  expect(await text.inputValue()).toBe(TEXT.replace('my', 'MY'))
  await page.getByText('Applied 1 of 3 changes.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  expect(await text.inputValue()).toBe(TEXT)

  // None is nothing to take; all are the suggestion; one's own may be kept.
  await improve(page, TEXT)
  await page.getByRole('button', { name: 'Replace with this' }).waitFor()
  for (const box of await boxes.all()) await box.uncheck()
  expect(await page.getByRole('button', { name: 'Use 0 of 3 changes' }).isDisabled()).toBe(true)
  for (const box of await boxes.all()) await box.check()
  await page.getByRole('button', { name: 'Replace with this' }).click()
  expect(await text.inputValue()).toBe(BETTER)
  await page.getByText('Replaced with the suggested version.').waitFor()
  await improve(page, TEXT)
  await page.getByRole('button', { name: 'Keep mine' }).click()
  expect([await text.inputValue(), await heading.count()]).toEqual([TEXT, 0])

  // Two to a hundred changes have boxes.
  for (const [words, changes, count] of [
    [3, 1, 0],
    [6, 2, 2],
    [300, 100, 100],
    [303, 101, 0],
  ] as const) {
    await improve(page, `${Array.from({ length: words }, (_, n) => `word${n}`).join(' ')}\n[edits]`)
    await expect.poll(() => page.locator('#improved ins').count()).toBe(changes)
    await page.getByRole('button', { name: 'Keep mine' }).waitFor()
    expect(await page.locator('#improved input[type="checkbox"]').count()).toBe(count)
  }
  await page.getByRole('button', { name: 'Replace with this' }).click()
  expect((await text.inputValue()).match(/WORD/g)?.length).toBe(101)

  // It is shown as it comes, and taken only when it is whole; stopping or leaving ends the call to the model.
  await improve(page, 'A lasting text [slow]')
  const coming = page.locator('form > section:last-child .text')
  await coming.getByText('0 1 2 3').waitFor()
  expect([await text.inputValue(), await readLeft('A lasting text')]).toEqual(['A lasting text [slow]', [false]])
  const [first, later] = [await coming.textContent(), await coming.getByText('8 9 10').textContent()]
  expect(later?.startsWith(first ?? '-')).toBe(true)
  expect(await page.getByRole('button', { name: 'Replace with this' }).count()).toBe(0)
  await page.getByRole('button', { name: /^Improving… \d+ s$/ }).click()
  await page.getByText('Stopped. Your text is unchanged.').waitFor()
  expect([await text.inputValue(), await coming.count()]).toEqual(['A lasting text [slow]', 0])
  await expect.poll(() => readLeft('A lasting text')).toEqual([true])
  const tab = await page.context().newPage()
  await tab.goto('/new')
  await improve(tab, 'A text that is left [slow]')
  await tab.locator('form > section:last-child .text').getByText('0 1 2 3').waitFor()
  await tab.close()
  await expect.poll(() => readLeft('A text that is left')).toEqual([true])

  // A first answer that cannot be used gives way to the next; faults are told, and the text stays.
  await improve(page, 'Greet ${name} [forgets-once]')
  await page.getByRole('button', { name: 'Replace with this' }).click()
  expect(await text.inputValue()).toBe('Write it well: Greet ${name} [forgets-once]')
  // Blanks in other notations are changes that can be left.
  await improve(page, 'Greet [CLIENT NAME] in {{city}}')
  await page.getByText('2 placeholders became variables.').waitFor()
  await expect.poll(() => boxes.count()).toBe(3)
  await boxes.last().uncheck()
  await page.getByRole('button', { name: 'Use 2 of 3 changes' }).click()
  expect(await text.inputValue()).toBe('You are an expert.\n\nGreet ${client name} in {{city}}')
  await improve(page, 'A text [cut]')
  await page.getByRole('status').getByText('The response of by-text was cut off.').waitFor()
  expect([await text.inputValue(), await heading.count()]).toEqual(['A text [cut]', 0])
  await improve(page, '')
  await page.getByRole('status').getByText('Text is blank.').waitFor()

  // Without a script the suggestion is a page: what is taken of it, and the text before, are found on the way back.
  const plain = await bench.newMember('iris', { hasScript: false })
  const plainText = plain.getByLabel('Text', { exact: true })
  await plain.goto('/new')
  await plain.getByLabel('Title').fill('Mail')
  await improve(plain, TEXT)
  await plain.getByRole('heading', { name: 'Suggested version' }).waitFor()
  expect(await plain.getByRole('button', { name: 'Keep mine' }).count()).toBe(0)
  await plain.getByRole('checkbox', { name: /^Change 2 of 3: / }).uncheck()
  await plain.getByRole('button', { name: 'Replace with this' }).click()
  await plain.getByRole('heading', { name: 'Preview', exact: true }).waitFor()
  expect(await plainText.inputValue()).toBe(BETTER.replace('MY', 'my'))
  // No page of the way was the answer to a form, which a browser would have to send again.
  await plain.goBack()
  await plain.getByRole('heading', { name: 'Suggested version' }).waitFor()
  expect(await plainText.inputValue()).toBe(TEXT)
  await plain.reload()
  expect(await plain.getByLabel('Title').inputValue()).toBe('Mail')
  await plain.goForward()
  expect(await plainText.inputValue()).toBe(BETTER.replace('MY', 'my'))
  await plain.getByRole('button', { name: 'Save' }).click()
  await plain.waitForURL('**/prompts/*?done=saved')
  await plain.goBack()
  await plain.getByRole('heading', { name: 'Preview', exact: true }).waitFor()
})
