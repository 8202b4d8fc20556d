import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { lookForBarriers, savePrompt, useSharedService } from '../support/browser.ts'

const bench = useSharedService()

/** Labels that do not fit their button, and menus that break their row, at the size of a small phone. German words are long. */
async function findCut(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 360, height: 780 })
  return await page.evaluate(() => {
    const cut = [...document.querySelectorAll('button, .button, summary, nav a')].filter(
      (one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline',
    )
    const isWide = document.documentElement.scrollWidth > innerWidth
    return [...cut.map((one) => one.textContent ?? ''), ...(isWide ? ['the page'] : [])]
  })
}

it('pages of six kinds fit and have no barriers in German, opened too, and the language is chosen without a script', async () => {
  const page = await bench.newMember('heike', { allowed: [/status of 404/] })
  const path = await savePrompt(page, 'Donaudampfschifffahrt', 'Hallo ${name} aus ${ort:Wien}.')
  await page.goto('/settings')
  await page.getByLabel('Language').selectOption('Deutsch')
  await page.getByRole('button', { name: 'Save appearance' }).click()
  await page.getByText('Darstellung gespeichert.').waitFor()
  const found: string[] = []
  const look = async (place: string) => {
    expect(await page.locator('html').getAttribute('lang'), place).toBe('de')
    found.push(...(await lookForBarriers(page, place)))
    for (const label of await findCut(page)) found.push(`${place}: ${label} is cut off`)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 1440, height: 900 })
  }
  const open = (selector: string) =>
    page.locator(selector).evaluateAll((all) => {
      for (const one of all) if (one instanceof HTMLDetailsElement) one.open = true
    })
  for (const [address, opened] of [
    ['/prompts?sort=newest', '.narrowing details'],
    [path, '[data-open-in]'],
    [`${path}/edit`, 'main details'],
    ['/settings/access', 'main details'],
    ['/import', 'main details'],
    ['/nichts', 'header details'],
  ] as const) {
    await page.goto(address)
    await open(opened)
    await look(address)
  }
  // Scripts speak the language of the page.
  await page.goto(path)
  await page.getByText('0 von 2 ausgefüllt').or(page.getByText('1 von 2 ausgefüllt')).first().waitFor()
  await page.keyboard.press('Control+K')
  await page.getByRole('dialog').getByRole('option', { name: 'Einstellungen' }).first().waitFor()
  await look('the palette')
  expect(found).toEqual([])

  // Without a script, the language is chosen in the foot of a page.
  const plain = await bench.newPage({ hasScript: false })
  await plain.goto('/skills?sort=newest')
  await plain.getByRole('button', { name: 'Deutsch' }).click()
  await plain.getByRole('button', { name: 'English' }).waitFor()
  expect(new URL(plain.url()).search).toBe('?sort=newest')
  expect(await plain.getByRole('link', { name: 'Anmelden' }).count()).toBe(1)
})
