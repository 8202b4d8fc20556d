import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { addEncoderCommands } from '../../src/cli/maintenance-commands.ts'
import { createFakeEncoder, type FakeEncoder } from '../support/fake-encoder.ts'
import { eventually } from '../support/model-server.ts'
import { readJson, type TestApp, testApp } from '../support/test-app.ts'
import { signUp, visit } from '../support/visitor.ts'

/** What is shown of the encoder's work, and to whom. */

const TOKEN = 'a-token-for-the-tests'

let test: TestApp
let encoder: FakeEncoder
beforeEach(async () => {
  encoder = createFakeEncoder()
  test = await testApp({ METRICS_TOKEN: TOKEN }, {}, null, { encoder })
})
afterEach(() => test.close())

const ready = async () => {
  const response = await test.fetch('/readyz')
  return [response.status, await readJson(response)]
}
const says = (word: string) => [200, { status: 'ready', search: 'ready', embeddings: 'off', encoder: word }]
const readMetrics = async (token: string | null) => {
  const response = await test.fetch('/metrics', token === null ? {} : { headers: { authorization: `Bearer ${token}` } })
  return { status: response.status, text: await response.text() }
}
const save = async () => {
  const { actor } = await test.user('ada')
  for (const title of ['One', 'Two', 'Three']) await test.call(actor, 'save_prompt', { title, content: 'x', isPrivate: true })
}
const isReady = async () => test.app.itemEncoding?.state === 'ready'

describe('the encoder', () => {
  it('is a word on /readyz, which is always ready', async () => {
    await save()
    encoder.change({ state: 'starting' })
    expect(await ready()).toEqual(says('embedding'))
    encoder.change({ state: 'fallback' })
    expect(await ready()).toEqual(says('fallback'))
    encoder.change({ state: 'ready' })
    expect(await ready()).toEqual(says('embedding'))
    test.app.itemEncoding?.start(() => {})
    expect(await eventually(isReady)).toBe(true)
    expect(await ready()).toEqual(says('ready'))
    // A later save is found by itself.
    await save()
    expect(await eventually(async () => encoder.given.length === 6)).toBe(true)
  })

  it('has figures in the metrics, which need the token', async () => {
    await save()
    const lines = async () => (await readMetrics(TOKEN)).text.split('\n').filter((line) => /^commonplace_encoder_/.test(line))
    expect(await lines()).toEqual([
      'commonplace_encoder_up 1',
      'commonplace_encoder_items{state="embedded"} 0',
      'commonplace_encoder_items{state="pending"} 3',
      'commonplace_encoder_embedded_total 0',
      'commonplace_encoder_failures_total{cause="library"} 0',
      'commonplace_encoder_failures_total{cause="item"} 0',
    ])
    test.app.itemEncoding?.start(() => {})
    expect(await eventually(isReady)).toBe(true)
    expect((await lines()).slice(1, 4)).toEqual([
      'commonplace_encoder_items{state="embedded"} 3',
      'commonplace_encoder_items{state="pending"} 0',
      'commonplace_encoder_embedded_total 3',
    ])
    encoder.change({ state: 'fallback' })
    expect((await lines())[0]).toBe('commonplace_encoder_up 0')
    for (const token of [null, 'another']) {
      const { status, text } = await readMetrics(token)
      expect([status, text.includes('encoder')]).toEqual([401, false])
    }
  })

  it('has figures on the status page, for administrators alone', async () => {
    const admin = await signUp(test, 'cleo')
    const other = await signUp(test, 'ben')
    await save()
    const figure = async () => (await admin.get('/admin/status')).html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
    expect(await figure()).toContain('Search by meaning in progress, 0 of 3 items have a vector')
    test.app.itemEncoding?.start(() => {})
    expect(await eventually(isReady)).toBe(true)
    expect(await figure()).toContain('Search by meaning ready, 3 of 3 items have a vector')
    for (const visitor of [other, visit(test)]) {
      const { html } = await visitor.get('/admin/status')
      expect(html).not.toMatch(/have a vector|3 of 3/)
    }
  })

  it('has figures on the command line', async () => {
    const run = async (app: TestApp['app'], ...args: string[]) => {
      const program = new Command().exitOverride()
      addEncoderCommands(program, async (work) => await work(app))
      const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
      try {
        await program.parseAsync(['encoder', 'status', ...args], { from: 'user' })
        return written.mock.calls.map(([text]) => String(text)).join('')
      } finally {
        written.mockRestore()
      }
    }
    await save()
    expect(await run(test.app)).toBe('fake-1: 0 of 3 items embedded, 3 pending.\n')
    test.app.itemEncoding?.start(() => {})
    expect(await eventually(isReady)).toBe(true)
    expect(JSON.parse(await run(test.app, '--json'))).toEqual({ model: 'fake-1', total: 3, embedded: 3, pending: 0 })
    const off = await testApp()
    await expect(run(off.app)).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('ENCODER=on') })
    await off.close()
  })

  it('is off where there is none, and nothing is shown of it', async () => {
    await test.close()
    test = await testApp({ METRICS_TOKEN: TOKEN })
    expect(await ready()).toEqual(says('off'))
    expect((await readMetrics(TOKEN)).text).not.toContain('commonplace_encoder')
    const admin = await signUp(test, 'cleo')
    expect((await admin.get('/admin/status')).html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')).toContain('Search by meaning off')
  })
})
