import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unzipSync } from 'fflate'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../support/browser.ts'

/** A picture of one pixel. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe('a reader in a browser', () => {
  const bench = useBrowser()
  let table = ''
  beforeAll(async () => {
    const key = await bench.createKey('Ada')
    table = `/prompts/${(await bench.save(key, 'prompt', { title: 'Table', content: '|a|b|c|\n|-|:-:|-:|\n|1|2|3|' })).slug}`
    await bench.save(key, 'prompt', { title: 'Kaleidoscope maker', content: 'Builds kaleidoscopes' })
  })

  it('comes to the content with the first key, and sees where they are', async () => {
    const page = await bench.newPage()
    await page.goto('/')
    const skip = page.locator('a.skip')
    await page.keyboard.press('Tab')
    expect(await skip.evaluate((link) => link === document.activeElement)).toBe(true)
    expect((await skip.boundingBox())?.x).toBeGreaterThanOrEqual(0)
    expect(await outlineOf(page)).toMatch(/^solid [1-9]/)
    await page.keyboard.press('Enter')
    expect(new URL(page.url()).hash).toBe('#content')
    // The next key goes on inside of the content, and whatever has the focus shows it.
    for (let count = 0; count < 5; count++) {
      await page.keyboard.press('Tab')
      expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
      expect(await outlineOf(page)).toMatch(/^solid [1-9]/)
    }
  })

  it('adds the service to an editor in one click from the first page, and sees how on the page about clients', async () => {
    const page = await bench.newPage()
    for (const address of ['/', '/docs/connect']) {
      await page.goto(address)
      const link = new URL((await page.getByRole('link', { name: 'Add to Cursor' }).getAttribute('href')) ?? '')
      expect([link.protocol, link.pathname, link.searchParams.get('name')]).toEqual(['cursor:', '/mcp/install', 'commonplace'])
      const config = JSON.parse(Buffer.from(link.searchParams.get('config') ?? '', 'base64').toString())
      expect(config).toEqual({ url: `${bench.baseUrl}/api/mcp` })
      const sample = page.locator('.connect-box [data-copy]')
      await sample.click()
      const command = `claude mcp add --transport http commonplace ${bench.baseUrl}/api/mcp`
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(command)
    }
  })

  it.each([true, false])('adds the service to Cursor in three clicks from anywhere (with a script: %s)', async (hasScript) => {
    const page = await bench.newPage({ hasScript })
    await page.goto('/prompts')
    await page.getByRole('link', { name: 'Connect', exact: true }).click()
    await page.getByLabel('Cursor', { exact: true }).check()
    const link = page.getByRole('link', { name: 'Add to Cursor' })
    await link.click({ trial: true })
    expect(new URL((await link.getAttribute('href')) ?? '').protocol).toBe('cursor:')
  })

  it('sees one client at a time, with a key or without', async () => {
    const page = await bench.newPage()
    await page.goto('/connect?client=windsurf')
    const clients = page.getByRole('group', { name: 'Client', exact: true }).getByRole('radio')
    const names = await page.getByRole('group', { name: 'Client', exact: true }).locator('label').allTextContents()
    expect(await clients.count()).toBe(7)
    const shown = page.locator('pre:visible')
    expect(await shown.allTextContents()).toEqual([expect.stringContaining('"serverUrl"')])
    await page.getByLabel('Windsurf', { exact: true }).focus()
    await page.keyboard.press('ArrowRight')
    expect(await shown.allTextContents()).toEqual([expect.stringContaining('[mcp_servers.commonplace]')])
    expect(await outlineOf(page, 'label')).toMatch(/^solid [1-9]/)
    for (const name of names) {
      await page.getByLabel(name.trim(), { exact: true }).check()
      await page.getByLabel('Public items, no key').check()
      const open = await shown.allTextContents()
      expect(open.length, name).toBe(name.trim() === 'Claude Code' ? 2 : 1)
      expect(open.join(''), name).not.toMatch(/PROMPTS_API_KEY/)
      await page.getByLabel('Yours too, signed in').check()
      const signing = (await shown.allTextContents()).join('\n')
      if (name.trim() === 'Windsurf') expect(signing).toBe('')
      else expect(signing, name).toMatch(/http:\/\/127\.0\.0\.1:\d+\/mcp"?/)
      expect(signing, name).not.toMatch(/PROMPTS_API_KEY|\/api\/mcp/)
      await page.getByLabel('Yours too, with a key').check()
      const keyed = await shown.allTextContents()
      expect(keyed.length, name).toBe(open.length)
      for (const text of keyed) expect(text, name).toMatch(/PROMPTS_API_KEY/)
      // A link that installs a placeholder helps nobody.
      expect(await page.getByRole('link', { name: /^(Add to|Install in)/ }).count(), name).toBe(0)
    }
    await page.getByRole('link', { name: 'Sign in to create a key' }).click()
    expect(new URL(page.url()).searchParams.get('to')).toBe('/connect?access=key')
  })

  it('finds as they type, at an address they can keep', async () => {
    const page = await bench.newPage()
    await page.goto('/prompts')
    await page.getByRole('searchbox', { name: 'Search prompts', exact: true }).pressSequentially('kaleido')
    await page.waitForURL('**/prompts?q=kaleido')
    expect(await page.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['Kaleidoscope maker'])
    expect(
      await page.getByRole('searchbox', { name: 'Search prompts', exact: true }).evaluate((field) => field === document.activeElement),
    ).toBe(true)
    await page.keyboard.press('ArrowDown')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Kaleidoscope maker')
    await page.reload()
    expect(await page.getByRole('searchbox', { name: 'Search prompts', exact: true }).inputValue()).toBe('kaleido')
    expect(await page.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['Kaleidoscope maker'])
  })

  it('reads what was found in first words, on the darker ground too', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await bench.newPage({ theme })
      await page.goto('/prompts?q=kaleidoscopes')
      const mark = page.locator('.first-words mark')
      expect(await mark.textContent()).toBe('kaleidoscopes')
      expect(await contrastOf(mark), theme).toBeGreaterThanOrEqual(4.5)
    }
  })

  it('finds aligned columns in a table', async () => {
    const page = await bench.newPage()
    await page.goto(`${table}?view=rendered`)
    const sides = await page.locator('td').evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).textAlign))
    expect(sides).toEqual(['left', 'center', 'right'])
  })

  it('installs a skill with the command of its page, and sees its picture', async () => {
    const key = await bench.createKey('Ada')
    const skillMd = '---\nname: shown\ndescription: Shows.\n---\n# Shown\n'
    const files = [
      { filename: 'SKILL.md', content: skillMd },
      { filename: 'assets/dot.png', content: DOT, encoding: 'base64' },
    ]
    const { slug } = await bench.save(key, 'skill', { title: 'Shown', files })
    const home = join(bench.place.folder, 'home')
    await mkdir(join(home, '.claude', 'skills'), { recursive: true })
    const page = await bench.newPage()
    await page.goto(`/skills/${slug}`)
    await page.getByText('Install', { exact: true }).click()
    const shown = page.locator('.install [data-text]:visible')
    await expect.poll(() => shown.count()).toBe(1)
    expect(await shown.textContent()).toBe(`npx skills add ${new URL(page.url()).origin}/skills/${slug}`)
    await page.getByLabel('curl', { exact: true }).check()
    const command = (await shown.textContent())?.trim() ?? ''
    const run = (line: string) => promisify(execFile)('sh', ['-c', line], { cwd: home, env: { ...process.env, HOME: home } })
    const hasUnzip = await run('command -v unzip').catch(() => null)
    if (hasUnzip) {
      await run(command)
      expect(await readFile(join(home, '.claude', 'skills', slug, 'SKILL.md'), 'utf8')).toBe(skillMd)
    } else {
      process.stderr.write('There is no unzip here: the archive is read instead.\n')
      await run(command.split(' && ')[0] ?? '')
      expect(Object.keys(unzipSync(await readFile(join(home, `${slug}.zip`))))).toEqual([`${slug}/SKILL.md`, `${slug}/assets/dot.png`])
    }
    await page.goto(`/skills/${slug}?file=assets/dot.png`)
    const picture = page.getByRole('img', { name: 'assets/dot.png' })
    expect(await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(1)
  })

  it('takes a copy of an example in the documents', async () => {
    const page = await bench.newPage()
    await page.goto('/docs/connect')
    await page.locator('.written').getByRole('button', { name: 'Copy' }).first().click()
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toContain(`claude mcp add --transport http commonplace ${bench.baseUrl}/mcp`)
  })
})

/** Style and width of the outline of what has the focus, or of what is around it. */
async function outlineOf(page: Page, around = '*'): Promise<string> {
  return await page.evaluate((selector) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement?.closest(selector) ?? document.body)
    return `${outlineStyle} ${outlineWidth}`
  }, around)
}

/** Contrast of an element's text against its own background (WCAG 2.2, "contrast ratio"). */
async function contrastOf(element: Locator): Promise<number> {
  return await element.evaluate((node) => {
    const luminance = (color: string) => {
      const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
        const share = Number(part) / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const { color, backgroundColor } = getComputedStyle(node)
    const [light = 0, dark = 0] = [luminance(color), luminance(backgroundColor)].toSorted((a, b) => b - a)
    return (light + 0.05) / (dark + 0.05)
  })
}
