import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { EMBED_EXAMPLES } from '../../src/library/embed/examples.ts'
import { parseContext, parseTools } from '../../src/web/embed/context.ts'
import { writeEmbedQuery } from '../../src/web/embed/query.ts'
import { lookForBarriers, useBrowser } from '../support/browser.ts'

describe('embeds', () => {
  const bench = useBrowser()
  const blogs: Server[] = []
  afterAll(() => {
    for (const blog of blogs) blog.close()
  })

  it.each([true, false])('show every example as its label promises, alike in both themes (with a script: %s)', async (hasScript) => {
    const trees = new Map<string, string>()
    for (const theme of ['light', 'dark'] as const) {
      const page = await bench.newPage({ theme, hasScript })
      for (const { value, config } of EMBED_EXAMPLES) {
        await page.goto(`/embed?${writeEmbedQuery({ ...config, themeMode: 'auto' })}`)
        const main = page.locator('main')
        const tree = await main.ariaSnapshot()
        expect(trees.get(value) ?? tree, value).toBe(tree)
        trees.set(value, tree)
        expect(await page.locator('.prompt').innerText(), value).toBe(config.prompt)
        const text = (await main.innerText()).replaceAll('\n', ' ')
        for (const { label } of parseContext(config.context ?? '').shown) expect(text, value).toContain(label)
        for (const { server, tool } of parseTools(config.mcpTools ?? '').shown) expect(text, value).toContain(`${server}:${tool}`)
        expect(text, value).toContain(config.model)
        expect(await page.locator('.tree').count(), value).toBe(config.showFiletree ? 1 : 0)
        expect(await page.locator('.diff').count(), value).toBe(config.showDiff ? 1 : 0)
        expect(await page.locator('.flash').count(), value).toBe(config.flashButton ? 1 : 0)
        const send = await page.locator('.send').evaluate((one) => getComputedStyle(one).backgroundColor)
        const color = (theme === 'light' ? config.lightColor : config.darkColor) ?? ''
        expect(send, value).toBe(`rgb(${[1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)).join(', ')})`)
      }
    }
    if (hasScript) expect(Object.fromEntries(trees)).toMatchSnapshot('accessibility trees')
    expect(trees.size).toBe(EMBED_EXAMPLES.length)
  })

  it('have no barriers, in both themes, on a desktop and on a phone', async () => {
    const page = await bench.newPage({ allowed: [/status of 404/] })
    const found: string[] = []
    for (const { value, config } of EMBED_EXAMPLES) {
      await page.goto(`/embed?${writeEmbedQuery({ ...config, themeMode: 'auto' })}`)
      found.push(...(await lookForBarriers(page, value)))
    }
    for (const address of [
      '/embed',
      '/embed/nothing',
      `/embed?prompt=${'x'.repeat(500)}&context=${'y'.repeat(300)}&model=${'z'.repeat(100)}`,
    ]) {
      await page.goto(address)
      found.push(...(await lookForBarriers(page, address.slice(0, 20))))
    }
    expect(found).toEqual([])
  }, 120_000)

  it('keep to the theme they were given', async () => {
    const page = await bench.newPage({ theme: 'light' })
    await page.goto('/embed?prompt=x&themeMode=dark')
    expect(await page.locator('main').evaluate((one) => getComputedStyle(one).backgroundColor)).toBe('rgb(23, 24, 27)')
  })

  it('let the Accept of a change pulse, unless the reader asked for less motion', async () => {
    const page = await bench.newPage()
    await page.goto('/embed?showDiff=true&diffNewText=x&flashButton=accept')
    const animation = () => page.locator('.flash').evaluate((one) => getComputedStyle(one).animationName)
    expect(await animation()).toBe('none')
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    expect(await animation()).toBe('flash')
  })

  it('stand in a page of another origin, as high as they are, in whichever order scripts come', async () => {
    const { config } = EMBED_EXAMPLES[0] ?? {}
    const src = `${bench.baseUrl}/embed?${writeEmbedQuery(config ?? {})}`.replaceAll('&', '&amp;')
    const frame = `<iframe title="A prompt" width="600" height="80" src="${src}"></iframe>`
    const script = `<script src="${bench.baseUrl}/embed.js"></script>`
    const late = `<script>onload = () => document.body.append(Object.assign(document.createElement('script'), { src: '${bench.baseUrl}/embed.js' }))</script>`
    for (const html of [script + frame, frame + late]) {
      const blog = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(`<!doctype html>${html}`))
      blogs.push(blog)
      await new Promise<void>((resolve) => blog.listen(0, '127.0.0.1', resolve))
      const { port } = z.object({ port: z.number() }).parse(blog.address())
      const page = await bench.newPage({ allowed: [/^Another server was asked: http:\/\/localhost:/] })
      await page.goto(`http://localhost:${port}/post`)
      const inner = page.frameLocator('iframe').locator('main')
      await inner.waitFor()
      const height = await inner.evaluate((one) => one.getBoundingClientRect().height)
      expect(height).toBeGreaterThan(150)
      const outer = () => page.locator('iframe').evaluate((one) => one.clientHeight)
      await expect.poll(outer).toBe(Math.ceil(height))
      // Narrower is higher, and the frame follows.
      await page.locator('iframe').evaluate((one) => one.setAttribute('width', '320'))
      await expect.poll(outer).toBeGreaterThan(Math.ceil(height))
    }
  })

  it('stand in a file on disk, and other pages of the service stand in no frame', async () => {
    const page = await bench.newPage({ allowed: [/frame-ancestors/, /chromewebdata/] })
    const file = join(bench.place.folder, 'page.html')
    await writeFile(
      file,
      `<!doctype html><iframe title="a" src="${bench.baseUrl}/embed?prompt=On+disk"></iframe><iframe title="b" src="${bench.baseUrl}/prompts"></iframe>`,
    )
    await page.goto(`file://${file}`)
    await page.frameLocator('iframe[title=a]').getByText('On disk').waitFor()
    await expect.poll(() => page.frames().map((frame) => frame.url())).toContainEqual(expect.stringMatching(/chrome-error/))
  })

  it('are designed with a preview as one types, and without a script by a button', async () => {
    for (const hasScript of [true, false]) {
      const page = await bench.newPage({ hasScript })
      await page.goto('/embeds')
      await page.getByRole('link', { name: 'Name this', exact: true }).click()
      await page.getByLabel('Prompt', { exact: true }).fill('Say "hello" to @world & ${name}')
      await page.getByLabel('Planning').check()
      await page.getByLabel('Colours', { exact: true }).selectOption('violet')
      if (!hasScript) await page.getByRole('button', { name: 'Update preview' }).click()
      const preview = page.frameLocator('.preview iframe')
      await expect.poll(() => preview.locator('.prompt').textContent()).toBe('Say "hello" to @world & ${name}')
      await preview.getByText('Planning').waitFor()
      const link = (await page.locator('pre[data-text]').nth(2).textContent()) ?? ''
      expect(new URL(link).searchParams.get('prompt')).toBe('Say "hello" to @world & ${name}')
      expect(new URL(link).searchParams.get('darkColor')).toBe('#b79bff')
      await page.getByLabel('Phone').check()
      expect(await page.locator('.preview iframe').evaluate((one) => one.clientWidth)).toBe(390)
      await page.getByRole('group', { name: 'Preview' }).getByLabel('Dark').check()
      if (!hasScript) await page.getByRole('button', { name: 'Update preview' }).click()
      await expect.poll(() => preview.locator('main').evaluate((one) => getComputedStyle(one).backgroundColor)).toBe('rgb(23, 24, 27)')
      if (hasScript) {
        await page.getByRole('button', { name: 'Copy' }).nth(2).click()
        expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link)
      }
    }
  })
})
