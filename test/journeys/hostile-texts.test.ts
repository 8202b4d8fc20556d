import { beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../support/browser.ts'

/** What would run as a script where a text is not kept a text; each says where it got through. */
const ATTACKS = [
  `<script>window.__xss = 'script'</script>`,
  `"><img src=x onerror="window.__xss='img'">`,
  `'><svg onload=alert(1)>`,
  `</textarea></title></style></pre><iframe srcdoc="<script>parent.__xss='iframe'</script>"></iframe>`,
  `[link](javascript:window.__xss='link') ![x](x"onerror="alert(2))`,
  `<a href="javascript:window.__xss='a'">a</a> <javascript:alert(3)>`,
  `\${name:"><img src=x onerror=alert(4)>}`,
  `\u2028</script><script>alert(5)</script>`,
].join('\n')
/** The same where one line is all there is room for. */
const LINE = ATTACKS.replaceAll('\n', ' ').replaceAll('\u2028', ' ')

describe('a text that wants to be a program', () => {
  const bench = useBrowser()
  const addresses: string[] = []
  beforeAll(async () => {
    const key = await bench.createKey('Mallory')
    const title = LINE.slice(0, 200)
    const description = LINE.slice(0, 500)
    const tags = ['<script>alert(1)</script>', '"><img src=x onerror=alert(2)>']
    const prompt = await bench.save(key, 'prompt', { title, description, content: ATTACKS, tags })
    const yaml = await bench.save(key, 'prompt', { title, content: `a: ${JSON.stringify(ATTACKS)}`, type: 'STRUCTURED' })
    const files = [
      { filename: 'SKILL.md', content: `---\nname: ok\ndescription: ${JSON.stringify(LINE)}\n---\n# ${ATTACKS}` },
      { filename: '<img src=x onerror=alert(1)>.md', content: ATTACKS },
      { filename: `"onmouseover="alert(1)".html`, content: `<!doctype html>${ATTACKS}` },
      { filename: 'page.html', content: `<!doctype html>${ATTACKS}` },
      { filename: 'image.svg', content: `<svg xmlns="http://www.w3.org/2000/svg"><script>parent.__xss = 'svg'</script></svg>` },
      { filename: 'script.js', content: `window.__xss = 'file' // ${ATTACKS}` },
    ]
    const skill = await bench.save(key, 'skill', { title, description, files, tags })
    const query = encodeURIComponent(LINE)
    addresses.push(
      '/',
      '/prompts',
      '/skills',
      ...['prompts', 'skills'].flatMap((kind) => [`/${kind}?q=${query}`, `/${kind}?tag=${query}&author=${query}`]),
      `/prompts/${prompt.id}`,
      `/prompts/${yaml.id}`,
      `/skills/${skill.id}`,
      ...files.map(({ filename }) => `/skills/${skill.slug}?file=${encodeURIComponent(filename)}`),
      `/prompts/${query}`,
      `/${query}`,
    )
  })

  it('stays a text in every place it is shown', async () => {
    // Only that the text is no picture and no page of its own is told on the console; a script that was stopped would be told, too.
    const page = await bench.newPage({ allowed: [/status of 40[04]/] })
    for (const address of addresses) {
      await page.goto(address)
      const fields = page.locator('mark textarea')
      if (await fields.count()) {
        await fields.first().fill(ATTACKS)
        await page.locator('[data-open-in] summary').click()
        await page.keyboard.press('Escape')
        await page.keyboard.press('Control+Enter')
        await page.getByRole('button', { name: 'Copied' }).waitFor()
        // Where no script runs, the values come back from the service.
        await page.evaluate((value) => {
          const form = document.createElement('form')
          form.method = 'post'
          form.action = `${location.pathname}/fill`
          const field = document.createElement('textarea')
          field.name = 'v.name'
          field.value = value
          form.append(field)
          document.body.append(form)
          form.submit()
        }, ATTACKS)
        await page.waitForURL('**/fill')
        expect(await page.locator('[data-text]').textContent()).toContain(ATTACKS)
      }
      await page.mouse.move(200, 300)
      const ran = await page.evaluate(() => ({
        script: Reflect.get(window, '__xss'),
        frames: document.querySelectorAll('iframe, img, svg').length,
      }))
      expect(ran, address).toEqual({ script: undefined, frames: 0 })
      const targets = await page
        .locator('a')
        .evaluateAll((links) => links.map((link) => (link instanceof HTMLAnchorElement ? link.protocol : '')))
      // Applications that a prompt can be opened in, and that the service can be added to.
      const hasApplications = address === '/' || (address.startsWith('/prompts/') && !address.includes('%'))
      const expected = hasApplications ? ['cursor:', 'vscode:'] : []
      expect(
        targets.filter((protocol) => !/^https?:$/.test(protocol)),
        address,
      ).toEqual(expected)
    }
    expect(addresses.length).toBeGreaterThan(15)
  })
})
