import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { findBarriers, signUpInBrowser, useBrowser, VIEWPORTS } from '../support/browser.ts'
import { addressesOfPages, SHOWN_TEAM } from '../support/page-addresses.ts'

const bench = useBrowser({ args: ['--starter'] })

/** German words are long: pages where something is wider than a small phone, or than a desktop. */
async function findWide(page: Page, addresses: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const address of addresses) {
    await page.goto(address)
    for (const [width, height] of [
      [VIEWPORTS.desktop.width, VIEWPORTS.desktop.height],
      [360, 780],
    ] as const) {
      await page.setViewportSize({ width, height })
      const shown = Number(await page.evaluate('document.documentElement.scrollWidth'))
      if (shown > width) found.push(`${address} is ${shown} of ${width} pixels wide`)
      // A label that does not fit its button, or the menu that breaks its row.
      const cut = await page.evaluate(`[...document.querySelectorAll('button, .button, summary, nav a')]
        .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
        .map((one) => one.textContent)`)
      if (Array.isArray(cut) && cut.length > 0) found.push(`${address} at ${width}: ${cut.join(', ')}`)
    }
    expect(await page.locator('html').getAttribute('lang'), address).toBe('de')
  }
  return found
}

it('German pages fit on phones and desktops, for those who are signed in too', async () => {
  const key = await bench.createKey('Ada')
  const prompt = (await bench.save(key, 'prompt', { title: 'Brief', content: 'Lieber ${name}', category: 'writing', tags: ['review'] }))
    .slug
  const files = [{ filename: 'SKILL.md', content: '---\nname: tidy\ndescription: Tidy up.\n---\n# Tidy\n' }]
  const skill = (await bench.save(key, 'skill', { title: 'Ordnung', files, tags: ['review'] })).slug
  const stranger = await bench.newPage({ language: 'de-AT', allowed: [/status of 40[04]/] })
  const ownAddresses = (items: { prompt: string; skill: string; user: string; collection: string }) =>
    [...new Set(addressesOfPages(items).map(({ address }) => address))].filter((address) => !/^\/docs\/./.test(address))
  const forAll = [
    '/',
    '/search?q=brief',
    '/prompts',
    '/skills',
    `/prompts/${prompt}`,
    `/skills/${skill}`,
    '/sign-in',
    '/sign-up',
    '/language',
  ]
  expect(
    await findWide(stranger, [...forAll, '/forgot-password', '/embeds', '/connect', '/docs', '/docs/api', '/@Ada', '/nothing']),
  ).toEqual([])
  await stranger.goto('/sign-in')
  expect(await findBarriers(stranger)).toEqual([])

  const page = await bench.newPage({ allowed: [/status of 40[034]/] })
  await signUpInBrowser(page, 'grace')
  await page.goto('/new')
  await page.getByLabel('Title').fill('Donaudampfschifffahrt')
  await page.getByLabel('Text', { exact: true }).fill('Text of ${name}.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/prompts/**')
  const own = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  await page.goto('/new/skill')
  await page.getByLabel('Title').fill('Looked at')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/edit?done=saved')
  const ownSkill = new URL(page.url()).pathname.split('/')[2] ?? ''
  await page.goto('/teams')
  await page.getByLabel('Name', { exact: true }).fill(SHOWN_TEAM)
  await page.getByRole('button', { name: 'Create team' }).click()
  await page.waitForURL(`**/teams/${SHOWN_TEAM}?done=team-created`)
  await page.goto('/settings')
  await page.getByLabel('Language').selectOption('Deutsch')
  await page.getByRole('button', { name: 'Save language' }).click()
  await page.getByText('Sprache gespeichert.').waitFor()
  const addresses = ownAddresses({ prompt: own, skill: ownSkill, collection: 'none', user: 'grace' })
  expect(addresses.length).toBeGreaterThan(40)
  expect(await findWide(page, addresses)).toEqual([])
  await page.goto('/settings')
  expect(await findBarriers(page)).toEqual([])
}, 300_000)

it('a browser without scripts chooses its language in the foot of a page', async () => {
  const page = await bench.newPage({ hasScript: false })
  await page.goto('/skills?sort=newest')
  await page.getByRole('button', { name: 'Deutsch' }).click()
  await page.getByRole('button', { name: 'English' }).waitFor()
  expect(new URL(page.url()).search).toBe('?sort=newest')
  expect(await page.getByRole('link', { name: 'Anmelden' }).count()).toBe(1)
  await page.getByRole('button', { name: 'English' }).click()
  await page.getByRole('button', { name: 'Deutsch' }).waitFor()
})

it('scripts speak the language of the page', async () => {
  const key = await bench.createKey('Ada')
  const { slug } = await bench.save(key, 'prompt', { title: 'Gruß', content: 'Hallo ${name} aus ${ort}' })
  const page = await bench.newPage({ language: 'de' })
  await page.goto(`/prompts/${slug}`)
  await page.getByText('0 von 2 ausgefüllt').waitFor()
  await page.goto('/prompts?sort=newest')
  await page
    .getByText(/^vor \d+ (?:Sekunden?|Minuten?)$|^jetzt$/)
    .first()
    .waitFor()
  await page.keyboard.press('Control+K')
  await page.getByRole('dialog').getByRole('option', { name: 'Anmelden' }).waitFor()
})
