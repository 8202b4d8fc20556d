import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { expectCopied, lookForBarriers, useSharedService } from '../support/browser.ts'
import { listenHere } from '../support/children.ts'

const bench = useSharedService()
const DARK = 'rgb(23, 24, 27)'

it('somebody connects an editor, designs an embed, and shows it on their own page', async () => {
  // Three clicks lead from anywhere to the link that adds the service to an editor, with a script and without.
  for (const hasScript of [true, false]) {
    const page = await bench.newPage({ hasScript })
    await page.goto('/prompts')
    await page.getByRole('link', { name: 'Connect', exact: true }).click()
    await page.getByLabel('Cursor', { exact: true }).check()
    const add = page.getByRole('link', { name: 'Add to Cursor' })
    await add.click({ trial: true })
    const link = new URL((await add.getAttribute('href')) ?? '')
    expect([link.protocol, link.pathname, link.searchParams.get('name')]).toEqual(['cursor:', '/mcp/install', 'commonplace'])
  }
  // One client is shown at a time, with a key, signed in, or without either.
  const page = await bench.newPage()
  await page.goto('/connect?client=windsurf')
  const shown = page.locator('pre:visible')
  expect(await shown.allTextContents()).toEqual([expect.stringContaining('"serverUrl"')])
  await page.getByLabel('Windsurf', { exact: true }).focus()
  await page.keyboard.press('ArrowRight')
  expect(await shown.allTextContents()).toEqual([expect.stringContaining('[mcp_servers.commonplace]')])
  const names = await page.getByRole('group', { name: 'Client', exact: true }).locator('label').allTextContents()
  expect(names).toHaveLength(7)
  for (const name of names.map((text) => text.trim())) {
    await page.getByLabel(name, { exact: true }).check()
    const signing = name === 'Windsurf' ? [] : ['/mcp']
    for (const [access, expected] of [
      ['Public only', ['/api/mcp']],
      ['Sign in', signing],
      ['API key', ['/api/mcp', 'PROMPTS_API_KEY']],
    ] as const) {
      await page.getByLabel(access, { exact: true }).check()
      const texts = await shown.allTextContents()
      const named = texts.join('\n').match(/(?:\/api)?\/mcp\b|PROMPTS_API_KEY/g) ?? []
      expect([...new Set(named)].toSorted(), `${name}, ${access}`).toEqual(expected)
      if (access !== 'Sign in') expect(texts.length, name).toBe(name === 'Claude Code' ? 2 : 1)
      if (access === 'API key') for (const text of texts) expect(text, name).toContain('PROMPTS_API_KEY')
    }
    // A link that installs a placeholder helps nobody.
    expect(await page.getByRole('link', { name: /^(Add to|Install in)/ }).count(), name).toBe(0)
  }
  await page.getByRole('link', { name: 'Sign in to create a key' }).click()
  expect(new URL(page.url()).searchParams.get('to')).toBe('/connect?access=key')
  for (const [address, endpoint, button] of [
    ['/', '/api/mcp', page.locator('.connect-box [data-copy]')],
    ['/docs/connect', '/mcp', page.locator('.written').getByRole('button', { name: 'Copy' }).first()],
  ] as const) {
    await page.goto(address)
    await button.click()
    await expectCopied(page).toContain(`claude mcp add --transport http commonplace ${bench.baseUrl}${endpoint}`)
  }

  // The designer shows a preview as they type, and by a button without a script.
  const TEXT = 'Say "hello" to @world & ${name}'
  let src = ''
  for (const hasScript of [true, false]) {
    const designer = await bench.newPage({ hasScript })
    const preview = designer.frameLocator('.preview iframe')
    const update = async () => {
      if (!hasScript) await designer.getByRole('button', { name: 'Update preview' }).click()
    }
    await designer.goto('/embeds')
    await designer.getByText('Quick actions').click()
    await designer.getByRole('link', { name: 'Name this', exact: true }).click()
    await designer.getByLabel('Prompt', { exact: true }).fill(TEXT)
    await designer.getByLabel('Planning').check()
    await designer.getByLabel('Colours', { exact: true }).selectOption('violet')
    await update()
    // A blank is a field to fill with a script, and its name without one.
    await expect.poll(() => preview.locator('.prompt').textContent()).toBe(TEXT.replace('${name}', hasScript ? '' : 'name'))
    await preview.getByText('Planning').waitFor()
    src = (await designer.locator('pre[data-text]').nth(2).textContent()) ?? ''
    const { searchParams } = new URL(src)
    expect([searchParams.get('prompt'), searchParams.get('darkColor')]).toEqual([TEXT, '#b79bff'])
    await designer.getByRole('group', { name: 'Preview theme' }).getByLabel('Dark').check()
    await update()
    await expect.poll(() => preview.locator('main').evaluate((one) => getComputedStyle(one).backgroundColor)).toBe(DARK)
    if (!hasScript) continue
    expect(await designer.getByRole('button', { name: 'Update preview' }).count()).toBe(0)
    await designer.getByRole('button', { name: 'Copy' }).nth(2).click()
    await expectCopied(designer).toBe(src)
    expect(await lookForBarriers(designer, 'the designer')).toEqual([])
  }

  // The embed is as high as its content in a page of another origin, in whichever order scripts come.
  const frame = `<iframe title="A prompt" width="600" height="80" src="${src.replaceAll('&', '&amp;')}"></iframe>`
  const script = `<script src="${bench.baseUrl}/embed.js"></script>`
  const late = `<script>onload = () => document.body.append(Object.assign(document.createElement('script'), { src: '${bench.baseUrl}/embed.js' }))</script>`
  const posts: Readonly<Record<string, string>> = { '/early': script + frame, '/late': frame + late }
  const blog = createServer((asked, answer) =>
    answer.setHeader('Content-Type', 'text/html').end(`<!doctype html>${posts[asked.url ?? ''] ?? ''}`),
  )
  const port = await listenHere(blog)
  const elsewhere = await bench.newPage({
    allowed: [/^Another server was asked: http:\/\/127\.0\.0\.1:/, /frame-ancestors/, /chromewebdata/],
  })
  for (const path of Object.keys(posts)) {
    await elsewhere.goto(`http://127.0.0.1:${port}${path}`)
    const inner = elsewhere.frameLocator('iframe').locator('main')
    await inner.waitFor()
    const outer = () => elsewhere.locator('iframe').evaluate((one) => one.clientHeight)
    // Fonts and styles may still come, so both are measured each time.
    const excess = async () => (await outer()) - Math.ceil(await inner.evaluate((one) => one.getBoundingClientRect().height))
    await expect.poll(excess).toBe(0)
    const before = await outer()
    // Narrower is higher, and the frame follows.
    await elsewhere.locator('iframe').evaluate((one) => one.setAttribute('width', '320'))
    await expect.poll(outer).toBeGreaterThan(before)
    await expect.poll(excess).toBe(0)
  }
  // A reader fills in what is blank, and copies it from the frame.
  await elsewhere.goto(`http://127.0.0.1:${port}/early`)
  const framed = elsewhere.frameLocator('iframe')
  await framed.getByLabel('name', { exact: true }).fill('Ada')
  await framed.getByRole('button', { name: 'Copy' }).click()
  await framed.getByRole('button', { name: 'Copied' }).waitFor()
  await expectCopied(elsewhere).toBe(TEXT.replace('${name}', 'Ada'))
  blog.closeAllConnections()
  blog.close()
  // It also stands in a file on disk, where other pages of the service do not.
  const file = join(bench.folder, 'page.html')
  const [embed, list] = [`${bench.baseUrl}/embed?prompt=On+disk`, `${bench.baseUrl}/prompts`]
  await writeFile(file, `<!doctype html><iframe title="a" src="${embed}"></iframe><iframe title="b" src="${list}"></iframe>`)
  await elsewhere.goto(`file://${file}`)
  await elsewhere.frameLocator('iframe[title=a]').getByText('On disk').waitFor()
  await expect.poll(() => elsewhere.frames().map((one) => one.url())).toContainEqual(expect.stringMatching(/chrome-error/))
  // The Accept of a change pulses, unless the reader asked for less motion.
  await page.goto('/embed?showDiff=true&diffNewText=x&flashButton=accept')
  const animation = () => page.locator('.flash').evaluate((one) => getComputedStyle(one).animationName)
  expect(await animation()).toBe('none')
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  expect(await animation()).toBe('flash')
})
