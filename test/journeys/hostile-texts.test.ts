import { expect, it } from 'vitest'
import { useSharedService } from '../support/browser.ts'

const bench = useSharedService()
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
const SHORT = `</textarea></title><script>alert(1)</script>"><img src=x onerror=alert(2)>'`

it('a text that wants to be a program stays a text wherever it is shown or written', async () => {
  const key = await bench.createKey('mallory')
  const [title, description] = [LINE.slice(0, 200), LINE.slice(0, 500)]
  const tags = ['<script>alert(1)</script>', '"><img src=x onerror=alert(2)>']
  const prompt = await bench.save(key, 'prompt', { title, description, content: ATTACKS, tags })
  const yaml = await bench.save(key, 'prompt', { title, content: `a: ${JSON.stringify(ATTACKS)}`, type: 'STRUCTURED' })
  const files = [
    { filename: 'SKILL.md', content: `---\nname: ok\ndescription: ${JSON.stringify(LINE)}\n---\n# ${ATTACKS}` },
    { filename: '<img src=x onerror=alert(1)>.md', content: ATTACKS },
    { filename: `"onmouseover="alert(1)".html`, content: `<!doctype html>${ATTACKS}` },
    { filename: 'image.svg', content: `<svg xmlns="http://www.w3.org/2000/svg"><script>parent.__xss = 'svg'</script></svg>` },
    { filename: 'script.js', content: `window.__xss = 'file' // ${ATTACKS}` },
  ]
  const skill = await bench.save(key, 'skill', { title, description, files, tags })
  const query = encodeURIComponent(LINE)
  // A script that was stopped by the policy would be told on the console, and one that ran would open a dialog: both fail the test.
  const page = await bench.newPage({ allowed: [/status of 40[04]/] })
  for (const address of [
    '/',
    '/prompts?sort=newest',
    '/skills?sort=newest',
    `/search?q=${query}`,
    ...['prompts', 'skills'].flatMap((kind) => [`/${kind}?q=${query}`, `/${kind}?tag=${query}&author=${query}`]),
    `/prompts/${prompt.id}`,
    `/prompts/${yaml.id}`,
    `/skills/${skill.id}`,
    ...files.map(({ filename }) => `/skills/${skill.slug}?file=${encodeURIComponent(filename)}`),
    `/prompts/${query}`,
    `/${query}`,
  ]) {
    await page.goto(address)
    const fields = page.locator('mark textarea')
    if (await fields.count()) {
      await fields.first().fill(ATTACKS)
      await page.locator('[data-open-in] summary').click()
      await page.keyboard.press('Escape')
      await page.keyboard.press('Control+Enter')
      await page.getByRole('button', { name: 'Copied' }).waitFor()
    }
    await page.mouse.move(200, 300)
    const ran = await page.evaluate(() => ({
      script: Reflect.get(window, '__xss'),
      frames: document.querySelectorAll('iframe, img, svg').length,
    }))
    expect(ran, address).toEqual({ script: undefined, frames: 0 })
    const protocols = await page
      .locator('a')
      .evaluateAll((links) => links.map((link) => (link instanceof HTMLAnchorElement ? link.protocol : '')))
    // Applications that a prompt can be opened in, and that the service can be added to.
    const hasApplications = address === '/' || (address.startsWith('/prompts/') && !address.includes('%'))
    const others = protocols.filter((protocol) => !/^https?:$/.test(protocol))
    expect(others, address).toEqual(hasApplications ? ['cursor:', 'vscode:'] : [])
  }
  // Where no script runs, the values come back from the service.
  const plain = await bench.newPage({ hasScript: false })
  await plain.goto(`/prompts/${prompt.id}`)
  await plain.locator('textarea[name="v.name"]').fill(ATTACKS)
  await plain.getByRole('button', { name: 'Apply' }).click()
  await plain.waitForURL('**/fill')
  expect(await plain.locator('[data-text]').textContent()).toContain(ATTACKS)
  expect(await plain.locator('iframe, img, svg').count()).toBe(0)

  // In every form of one's own, and where it is shown to administrators.
  const own = await bench.newMember('mallory', { allowed: [/status of 40[0139]/] })
  await own.goto('/settings')
  await own.getByLabel('Display name').fill(SHORT)
  await own.getByLabel('About you').fill(SHORT)
  await own.getByRole('button', { name: 'Save', exact: true }).click()
  await own.getByText('Saved.').waitFor()
  await own.goto('/settings/access')
  await own.getByText('New key', { exact: true }).click()
  await own.getByLabel('Key name').fill(SHORT)
  await own.getByRole('button', { name: 'Create key' }).click()
  await own.goto('/new')
  for (const label of ['Title', 'Description']) await own.getByLabel(label).fill(SHORT)
  await own.getByLabel('Text', { exact: true }).fill(`${SHORT} \${name:${SHORT}}`)
  await own.getByLabel('Tags').fill('<b>a</b>, "x')
  await own.getByRole('button', { name: 'Preview', exact: true }).click()
  await own.getByRole('heading', { name: 'Preview', exact: true }).waitFor()
  await own.getByRole('button', { name: 'Improve' }).click()
  await own.getByRole('heading', { name: 'Suggested version' }).waitFor()
  await own.getByRole('button', { name: 'Save' }).click()
  await own.waitForURL('**/prompts/**')
  const path = new URL(own.url()).pathname
  await own.goto(`${path}/edit`)
  await own.getByLabel('Version note (optional)').fill(SHORT)
  await own.getByRole('button', { name: 'Save' }).click()
  await own.waitForURL('**/prompts/**?done=saved')
  const shown = ['edit', 'versions', 'versions/1'].map((part) => `${path}/${part}`)
  for (const address of [...shown, '/library', '/@mallory', '/settings', '/settings/access', `/sign-in?to=${SHORT}`]) {
    await own.goto(address)
    expect(await own.locator('img[src="x"]').count(), address).toBe(0)
  }
  const administrator = await bench.newAdministrator({ allowed: [/status of 40[0139]/] })
  for (const address of ['/admin/people', `/admin/people?q=${SHORT}`, `/admin/invites?username=${SHORT}`]) {
    await administrator.goto(address)
    expect(await administrator.locator('img[src="x"]').count(), address).toBe(0)
  }
  await administrator.goto('/admin/categories')
  await administrator.getByLabel('Category name').fill(SHORT.slice(0, 60))
  await administrator.getByRole('button', { name: 'Create category' }).click()
  await administrator.goto('/new')
  expect(await administrator.locator('img[src="x"]').count()).toBe(0)
})
