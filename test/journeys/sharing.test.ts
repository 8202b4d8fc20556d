import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { savePrompt, useSharedService } from '../support/browser.ts'

const bench = useSharedService()

it('a member imports what they have, sorts it in bulk, takes that back and exports it', async () => {
  const page = await bench.newMember('otto')
  await page.goto('/import')
  await page.getByRole('button', { name: 'Check files' }).click()
  await expect.poll(() => page.locator('form [data-said]').textContent()).toBe('Choose at least one file.')
  // A folder from the picker.
  await mkdir(join(bench.folder, 'mine', 'pdf'), { recursive: true })
  await writeFile(join(bench.folder, 'mine', 'pdf', 'SKILL.md'), '---\nname: pdf\ndescription: Reads.\n---\n# PDF\n')
  await writeFile(join(bench.folder, 'mine', 'pdf', 'run.py'), 'print(1)\n')
  await page.getByLabel('Or a folder').setInputFiles(join(bench.folder, 'mine'))
  await page.getByRole('button', { name: 'Check files' }).click()
  await page.getByRole('button', { name: 'Import 1 item' }).waitFor()
  expect(await page.getByRole('row').nth(1).textContent()).toContain('pdf/SKILL.md')
  await page.getByRole('button', { name: 'Import 1 item' }).click()
  await page.getByRole('link', { name: 'pdf', exact: true }).click()
  await page.getByText('run.py').first().waitFor()

  // Files that are dropped on the page.
  const COUNT = 30
  const lines = Array.from({ length: COUNT }, (_, n) => JSON.stringify({ title: `Note ${n}`, content: `Text ${n}.`, tags: ['old'] }))
  await page.goto('/import')
  const transfer = await page.evaluateHandle((text) => {
    const made = new DataTransfer()
    made.items.add(new File([text], 'many.jsonl'))
    made.items.add(new File(['Hello.'], 'hello.md'))
    return made
  }, lines.join('\n'))
  await page.dispatchEvent('main', 'drop', { dataTransfer: transfer })
  await page.getByRole('button', { name: `Import ${COUNT + 1} items` }).click()
  await page.getByText('The import is complete.').waitFor()
  expect(await page.getByRole('link', { name: `Created ${COUNT + 1}` }).count()).toBe(1)
  await page.getByRole('link', { name: 'Note 7', exact: true }).click()
  await page.getByText('Text 7.').waitFor()

  // All are tagged in four clicks, and one takes that back.
  await page.goto('/library')
  await page.getByLabel(`Select all ${COUNT + 1}`).click()
  expect(await page.locator('[data-selected]').textContent()).toBe(`${COUNT + 1} selected`)
  await page.getByLabel('Tag', { exact: true }).click()
  await page.keyboard.type('sorted')
  await page.getByRole('button', { name: 'Add tag' }).click()
  await page.getByRole('button', { name: 'Yes', exact: true }).click()
  await page.getByText(`Tag added to ${COUNT + 1} items.`).waitFor()
  const undo = page.url()
  const found = page.locator('.found h2')
  await page.goto('/library?tag=sorted')
  expect(await found.textContent()).toBe(`${COUNT + 1} prompts`)
  await page.goto(undo)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText(`Undone for ${COUNT + 1} items.`).waitFor()
  await page.goto('/library?tag=sorted')
  expect(await found.textContent()).toBe('Nothing of yours matches.')
  await page.goto('/library?tag=old')
  expect(await found.textContent()).toBe(`${COUNT} prompts`)

  // Some of them, by Shift, while the search narrows the list.
  await page.goto('/library')
  await page.getByRole('searchbox', { name: 'Search my library' }).fill('note 1')
  await page.waitForURL('**/library?q=note+1')
  await expect.poll(() => found.textContent()).not.toBe(`${COUNT + 1} prompts`)
  const picks = page.locator('.pick input')
  await picks.nth(0).click()
  await picks.nth(3).click({ modifiers: ['Shift'] })
  expect(await page.locator('[data-selected]').textContent()).toBe('4 selected')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  expect((await download).suggestedFilename()).toBe('commonplace-prompts.zip')
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Moved 4 items to the trash.').waitFor()
})

it('a team shares, edits and restores a prompt and orders a collection, which stays when a member leaves', async () => {
  const ann = await bench.newMember('ann', { allowed: [/ERR_FAILED/] })
  const cleo = await bench.newMember('cleo', { allowed: [/404/] })
  await ann.goto('/teams')
  await ann.getByLabel('Name', { exact: true }).fill('crew')
  await ann.getByRole('button', { name: 'Create team' }).click()
  await ann.waitForURL('**/teams/crew?done=team-created')
  await ann.getByLabel('Username').fill('cleo')
  await ann.getByLabel('Role', { exact: true }).selectOption('editor')
  await ann.getByRole('button', { name: 'Add', exact: true }).click()
  await ann.getByText('cleo', { exact: true }).waitFor()

  // An editor of the team changes what another wrote, and both see the whole history.
  await ann.goto('/new?owner=crew')
  await ann.getByLabel('Title').fill('Answer of the crew')
  await ann.getByLabel('Text', { exact: true }).fill('Walrus one')
  await ann.getByRole('button', { name: 'Save', exact: true }).click()
  await ann.getByText('Team crew').waitFor()
  const shared = new URL(ann.url()).pathname
  await cleo.goto('/library?owner=crew')
  await cleo.getByRole('link', { name: 'Answer of the crew' }).click()
  await cleo.waitForURL(`**${shared}`)
  await cleo.goto(`${shared}/edit`)
  await cleo.getByLabel('Text', { exact: true }).fill('Walrus two')
  await cleo.getByRole('button', { name: 'Save', exact: true }).click()
  await cleo.waitForURL('**?done=saved')
  await ann.goto(`${shared}/versions/1`)
  await ann.getByRole('button', { name: 'Restore this version' }).click()
  await ann.waitForURL('**?done=version-restored')
  await cleo.goto(`${shared}/versions`)
  expect(await cleo.locator('.rows > li').count()).toBe(3)

  // A collection is filled from the pages of items, and put in order by dragging.
  const titles = ['Crew one', 'Crew two', 'Crew three']
  const items = []
  for (const title of titles) items.push(await savePrompt(ann, title, `Text of ${title}`))
  await ann.goto(`${items[0]}/collections`)
  await ann.getByLabel('Title').fill('Counting')
  await ann.getByRole('button', { name: 'Create and add' }).click()
  await ann.getByText('Added to the collection.').waitFor()
  for (const item of items.slice(1)) {
    // Without leaving the item, by keys.
    await ann.goto(item)
    const link = ann.getByRole('link', { name: 'Add to collection' })
    if (!(await link.isVisible())) await ann.locator('summary', { hasText: '⋯' }).first().click()
    await link.press('Enter')
    const dialog = ann.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Counting', pressed: false }).press('Enter')
    await dialog.getByText('Added to the collection.').waitFor()
    await dialog.getByRole('button', { name: 'Counting', pressed: true }).waitFor()
    await ann.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(new URL(ann.url()).pathname).toBe(item)
  }
  await ann.goto('/collections')
  await ann.getByRole('link', { name: 'Counting' }).click()
  await ann.waitForURL('**/collections/*')
  const order = () => ann.locator('.rows h3').allTextContents()
  expect(await order()).toEqual(titles)
  expect(await ann.getByRole('button', { name: /^Move/ }).count()).toBe(0)
  await ann.getByRole('link', { name: 'Edit order' }).click()
  await drag(ann, 'Crew three', 'Crew one', 0.25)
  await expect.poll(() => ann.locator('[data-said]').textContent()).toBe('Moved Crew three.')
  const moved = ['Crew three', 'Crew one', 'Crew two']
  expect(await order()).toEqual(moved)
  expect(await ann.getByRole('button', { name: 'Move Crew three up' }).isDisabled()).toBe(true)
  expect(await ann.getByRole('button', { name: 'Move Crew one up' }).isDisabled()).toBe(false)
  await ann.reload()
  expect(await order()).toEqual(moved)
  // They are told when the order could not be saved, and see what it is.
  await ann.route('**/collections/*', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
  await drag(ann, 'Crew three', 'Crew two', 0.75)
  await ann.getByText('The order was not saved.').waitFor()
  expect(await order()).toEqual(moved)
  await ann.unrouteAll()

  // Who leaves sees nothing of the team any more; the team keeps everything.
  await cleo.goto('/teams/crew')
  await cleo.locator('summary', { hasText: 'Leave' }).click()
  await cleo.getByRole('button', { name: 'Leave', exact: true }).last().click()
  await cleo.waitForURL('**/teams?done=*')
  expect((await cleo.goto(shared))?.status()).toBe(404)
  await ann.goto(`${shared}/versions`)
  expect(await ann.locator('.rows > li').count()).toBe(3)
})

/** Drags a row of a collection onto another, at a share of its height. */
async function drag(page: Page, title: string, onto: string, share: number): Promise<void> {
  const rowOf = (name: string) => page.locator('.rows > li').filter({ has: page.getByRole('link', { name, exact: true }) })
  const [from, to] = [await rowOf(title).locator('.handle').boundingBox(), await rowOf(onto).boundingBox()]
  if (!from || !to) throw new Error('Both rows are in view.')
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2)
  await page.mouse.down()
  await page.mouse.move(to.x + 40, to.y + to.height * share, { steps: 8 })
  await page.mouse.up()
}
