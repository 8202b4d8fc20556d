import { expect, it } from 'vitest'
import { useSharedService } from '../support/browser.ts'

const bench = useSharedService()

/** JUnit XML of two cases; `breaks`: the second fails. */
const junit = (breaks: boolean) =>
  `<testsuite name="s"><testcase name="short" classname=""/><testcase name="polite" classname="">${breaks ? '<failure/>' : ''}</testcase></testsuite>`

it('a writer points a label at a version, and its gate refuses the one that breaks a case', async () => {
  const page = await bench.newMember('greta', { allowed: [/status of 409/] })
  const key = await bench.createKey('greta')
  const send = async (method: string, path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
    const answer = await fetch(`${bench.baseUrl}/api${path}`, { method, headers, body: JSON.stringify(body) })
    expect([answer.ok, path]).toEqual([true, path])
  }
  const me = await (await fetch(`${bench.baseUrl}/api/me`, { headers: { 'X-API-Key': key } })).json()
  const { id, slug } = await bench.save(key, 'prompt', { title: 'Gated reply', content: 'Reply politely.' })
  await send('PATCH', `/prompts/${id}`, { content: 'Reply.' })
  for (const version of [1, 2])
    await send('POST', `/prompts/${id}/versions/${version}/results`, { files: [{ filename: 'junit.xml', content: junit(version === 2) }] })
  await send('PUT', '/label-gates/production', { minPercent: 50, maxDrop: 0, keys: [me.key.id] })

  const move = async (version: string) => {
    await page.goto(`/prompts/${slug}/versions#labels`)
    await page.getByText('Set a label', { exact: true }).click()
    await page.getByLabel('Label', { exact: true }).fill('production')
    await page.getByLabel('Version', { exact: true }).selectOption(version)
    await page.getByLabel('Reason (optional)').fill('Newer')
    await page.getByRole('button', { name: 'Move label' }).click()
  }
  await move('1')
  await page.waitForURL('**?done=label-moved**')
  await move('2')
  const alert = page.getByRole('alert')
  await alert.waitFor()
  expect(await alert.textContent()).toContain('version 2: worse than version 1 in polite')
  await page.getByLabel('Reason (optional)').fill('A demonstration')
  await page.getByLabel('Override the gate').check()
  await page.getByRole('button', { name: 'Move label' }).click()
  await page.waitForURL('**?done=label-moved**')
  await page.getByText('Moves', { exact: true }).click()
  expect(await page.getByText('overrode its gate').count()).toBe(1)
  await move('1')
  const served = await fetch(`${bench.baseUrl}/api/prompts/${id}?label=production`)
  expect(await served.json()).toMatchObject({ content: 'Reply politely.', version: 1 })
})
