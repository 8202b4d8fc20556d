import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../support/model-server.ts'
import { createPlace } from '../support/processes.ts'
import { readJson } from '../support/test-app.ts'

/** The program with its own encoder, on either engine. */

const TOPICS = ['baking bread at home', 'fixing a bicycle', 'reading a contract', 'growing tomatoes', 'planning a budget', 'naming a puppy']
const PROMPTS = Array.from({ length: 60 }, (_, i) => ({
  title: `Helper ${i}`,
  content: `You are a patient teacher of ${TOPICS[i % TOPICS.length]}. ${'Explain each step and why it matters. '.repeat(20)} Lesson ${i}.`,
}))
const TOKEN = 'a-token-for-the-tests'
const ON = { ENCODER: 'on', METRICS_TOKEN: TOKEN }

let place: ReturnType<typeof createPlace>
beforeEach(() => {
  place = createPlace()
})
afterEach(() => place.remove())

async function importPrompts(): Promise<void> {
  const file = join(place.folder, 'prompts.json')
  writeFileSync(file, JSON.stringify(PROMPTS))
  const { code, stdout, stderr } = await place.commonplace(['import', 'prompts', file, '--user', 'owner', '--public'])
  expect(code, stderr).toBe(0)
  expect(stdout).toContain(`${PROMPTS.length} created`)
}
/** How many items have a vector. */
async function countEncoded(): Promise<{ total: number; embedded: number; pending: number }> {
  const { stdout } = await place.commonplace(['encoder', 'status', '--json'], { env: ON })
  return JSON.parse(stdout)
}
const stateAt = async (url: string) => (await readJson(await fetch(`${url}/readyz`))).encoder

describe('the encoder of a service', () => {
  it('has vectors for the starter library at once, and finds it by meaning', async () => {
    const { url } = await place.serve({ instances: 1, args: ['--starter'], env: ON })
    expect(await eventually(async () => (await stateAt(url)) === 'ready')).toBe(true)
    const { prompts } = await readJson(await fetch(`${url}/api/search/prompts?query=${encodeURIComponent('tell my boss I quit')}&limit=5`))
    expect(prompts.length).toBeGreaterThan(0)
    for (const { score } of prompts) expect(score).toBeGreaterThan(0)
  })

  it('goes on after kill -9 where it stopped, and loses and repeats nothing it had saved', { timeout: 120_000 }, async () => {
    await importPrompts()
    const { child } = await place.serve({ instances: 1, env: ON })
    expect(await eventually(async () => (await countEncoded()).embedded >= 5)).toBe(true)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const saved = await countEncoded()
    expect(saved.embedded).toBeLessThan(PROMPTS.length)
    const again = await place.serve({ instances: 1, env: ON })
    expect(await eventually(async () => (await stateAt(again.url)) === 'ready')).toBe(true)
    expect(await countEncoded()).toEqual({ ...saved, embedded: PROMPTS.length, pending: 0 })
    const metrics = await (await fetch(`${again.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text()
    expect(/^commonplace_encoder_embedded_total (\d+)$/m.exec(metrics)?.[1]).toBe(String(PROMPTS.length - saved.embedded))
    const { prompts } = await readJson(await fetch(`${again.url}/api/search/prompts?query=${encodeURIComponent('repair my bike')}&limit=5`))
    expect(prompts.map(({ content }: { content: string }) => /bicycle/.test(content))).toEqual([true, true, true, true, true])
  })
})
