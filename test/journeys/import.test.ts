import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { signIn, signUpInBrowser, useBrowser } from '../support/browser.ts'

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
