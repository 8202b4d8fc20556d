import { beforeAll, describe, expect, it } from 'vitest'
import { signUpInBrowser, useBrowser } from '../support/browser.ts'

describe('a member who keeps a library', () => {
  const bench = useBrowser()
  beforeAll(async () => {
    const key = await bench.createKey('Ada')
    for (const title of ['Kaleidoscope maker', 'Letter']) await bench.save(key, 'prompt', { title, content: 'A text about kaleidoscopes.' })
  })

  it('marks favourites in a list, in place, and finds them again', async () => {
    const page = await bench.newPage()
    await signUpInBrowser(page, 'grace')
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
})
