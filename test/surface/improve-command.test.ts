import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually, type ModelServer, startModelServer } from '../support/model-server.ts'
import { createPlace, createPlaceWithKey, MAIN, type Place } from '../support/processes.ts'

/** Improving prompts as users and operators meet it: the built program, a model server, real connections. */

const SECRET = 'sk-very-secret-key'
const PROMPT = 'greet ${who} from the walrus'

let models: ModelServer
let place: Place
let key: string
beforeAll(async () => {
  models = await startModelServer()
})
afterAll(() => models.stop())
beforeEach(async () => {
  ;({ place, key } = await createPlaceWithKey('ada'))
})
afterEach(() => place.remove())

/** The settings for a model of the stub. */
const using = (model: string, more: Record<string, string> = {}) => ({
  IMPROVE_MODEL: model,
  OPENAI_BASE_URL: models.baseUrl,
  OPENAI_API_KEY: SECRET,
  ...more,
})

async function serve(env: Record<string, string>) {
  const served = await place.serveHere({ LOG_LEVEL: 'trace', ...env })
  const { url } = served
  const improve = (body: object = { prompt: PROMPT }, headers: Record<string, string> = {}) =>
    fetch(`${url}/api/improve-prompt`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
      body: JSON.stringify(body),
    })
  return { ...served, improve, written: () => served.stdout() + served.log() }
}

describe('the service', () => {
  it('writes neither keys nor prompts nor answers to its log, whatever happens', async () => {
    for (const model of ['normal:log', 'bad-key:log', 'garbage-events:log']) {
      const { url, improve, written, stop } = await serve(using(model))
      const plain = await improve()
      expect(plain.status, await plain.text()).toBe(model === 'normal:log' ? 200 : 502)
      await (await improve(undefined, { accept: 'text/event-stream' })).text()
      const params = { name: 'improve_prompt', arguments: { prompt: PROMPT } }
      const mcp = await fetch(`${url}/api/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'x-api-key': key },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      })
      await mcp.text()
      await stop()
      expect(written()).toContain('/api/improve-prompt')
      // Each way of asking leaves the sentence of its failure, once.
      const warnings = written().match(/"level":40[^\n]*"requestId":"[^\n]*"msg":"[^"\n]{10,}/g) ?? []
      expect(warnings.length, written()).toBe(model === 'normal:log' ? 0 : 3)
      for (const hidden of [SECRET, key, 'walrus', 'greet', 'expert', 'Bearer']) expect(written(), model).not.toContain(hidden)
    }
  })

  it('sends the text while it is being written', async () => {
    const { improve } = await serve(using('slow:live', { IMPROVE_TIMEOUT_SECONDS: '20' }))
    const reader = (await improve(undefined, { accept: 'text/event-stream' })).body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toMatch(/^event: delta\n/)
    await reader?.cancel()
    expect(await eventually(async () => (await models.log('slow:live'))[0]?.hasLeft === true)).toBe(true)
  })

  it('tells the model what the operator wrote', async () => {
    const file = join(place.folder, 'system.md')
    writeFileSync(file, 'You improve prompts for a zoo.\n')
    const { improve } = await serve(using('normal:system', { IMPROVE_SYSTEM_PROMPT_FILE: file }))
    expect((await improve()).status).toBe(200)
    const [sent] = await models.log('normal:system')
    expect(sent?.messages[0]?.content).toMatch(/^You improve prompts for a zoo\.\n\nRules:\n/)
  })
})

describe('the start', () => {
  it('is refused with a sentence when the model or its prompt cannot be used', async () => {
    const file = (name: string, content: string | Uint8Array) => {
      writeFileSync(join(place.folder, name), content)
      return join(place.folder, name)
    }
    const prompt = (path: string) => ({ IMPROVE_SYSTEM_PROMPT_FILE: path })
    const rows: readonly (readonly [Record<string, string>, RegExp])[] = [
      [{ IMPROVE_MODEL: 'mistral/large' }, /^IMPROVE_MODEL is "mistral\/large", which has no known provider/],
      [{ IMPROVE_MODEL: 'openai/gpt-5' }, /^IMPROVE_MODEL is "openai\/gpt-5", which needs OPENAI_API_KEY\.$/m],
      [{ IMPROVE_MODEL: 'anthropic/x', OPENAI_API_KEY: SECRET }, /needs ANTHROPIC_API_KEY/],
      [{ IMPROVE_CONCURRENCY: '0' }, /^IMPROVE_CONCURRENCY must be/],
      [prompt(join(place.folder, 'nowhere.md')), /^IMPROVE_SYSTEM_PROMPT_FILE: \S+nowhere\.md cannot be read/],
      [prompt(place.folder), /is not a file/],
      [prompt(file('blank.md', ' \n')), /blank\.md is blank\.$/m],
      [prompt(file('large.md', 'x'.repeat(65_537))), /large\.md exceeds 65536 bytes\.$/m],
      [prompt(file('latin.md', Uint8Array.of(0x63, 0xe9))), /latin\.md cannot be read as UTF-8/],
    ]
    for (const [env, sentence] of rows) {
      const none = { IMPROVE_MODEL: '', OPENAI_BASE_URL: '', OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' }
      const { code, stdout, stderr } = await place.commonplace(['serve'], { env: { ...none, ...env } })
      expect([code, stdout], stderr).toEqual([64, ''])
      expect(stderr).toMatch(sentence)
      expect(stderr).not.toContain(SECRET)
    }
  })

  it('loads nothing that talks to models', () => {
    // What the program imports before it does anything, file by file.
    const folder = dirname(MAIN)
    const loaded = new Set<string>()
    const load = (name: string) => {
      if (loaded.has(name)) return
      loaded.add(name)
      for (const [, next = ''] of readFileSync(join(folder, name), 'utf8').matchAll(/^(?:import|export)\b[^;\n]*?"\.\/([^"]+)"/gm))
        load(next)
    }
    load('main.js')
    const mark = 'AI_APICallError'
    const holds = (name: string) => readFileSync(join(folder, name), 'utf8').includes(mark)
    expect([...loaded].filter(holds)).toEqual([])
    expect(readdirSync(folder).filter(holds).length).toBeGreaterThan(0)
  })
})

describe('the command', () => {
  it('prints the improved text, or all of it as JSON, and nothing else', async () => {
    const env = using('forgets-once:cli')
    const text = await place.commonplace(['improve', PROMPT, '--user', 'ada'], { env })
    expect([text.code, text.stdout, text.stderr]).toEqual([0, `Write it well: ${PROMPT}\n`, ''])
    const whole = await place.commonplace(['improve', PROMPT, '--user', 'ada', '--output-type', 'image', '--json'], {
      env: using('normal:cli'),
    })
    expect(JSON.parse(whole.stdout)).toMatchObject({ original: PROMPT, outputType: 'image', outputFormat: 'text', model: 'normal:cli' })
    const file = join(place.folder, 'prompt.txt')
    writeFileSync(file, PROMPT)
    const named = await place.commonplace(['improve', `@${file}`, '--user', 'ada'], { env: using('normal:cli') })
    expect(named.stdout).toBe(`You are an expert.\n\n${PROMPT}\n`)
  })

  it('works with a key, on another server too, and says what is wrong', async () => {
    const { url } = await serve(using('forgets-once:far'))
    const far = createPlace()
    const env = { PROMPTS_API_KEY: key }
    const done = await far.commonplace(['improve', PROMPT, '--url', url], { env })
    expect([done.code, done.stdout, done.stderr]).toEqual([0, `Write it well: ${PROMPT}\n`, ''])
    expect((await models.log('forgets-once:far')).length).toBe(2)
    expect(await far.commonplace(['improve', PROMPT, '--url', url])).toMatchObject({ code: 77, stdout: '' })
    const bad = await far.commonplace(['improve', ' ', '--url', url], { env })
    expect([bad.code, bad.stdout, bad.stderr]).toEqual([64, '', 'prompt is blank.\n'])
    await far.remove()
    const anonymous = await place.commonplace(['improve', PROMPT])
    expect([anonymous.code, anonymous.stderr]).toEqual([77, expect.stringContaining('API key')])
    const failed = await place.commonplace(['improve', PROMPT, '--user', 'ada'], { env: using('cut:cli') })
    expect([failed.code, failed.stdout, failed.stderr]).toEqual([69, '', 'The response of cut:cli was cut off.\n'])
  })

  it('hears of an error that comes in the middle of another server’s stream', async () => {
    const { url } = await serve(using('cut:far'))
    const failed = await place.commonplace(['improve', PROMPT, '--url', url], { env: { PROMPTS_API_KEY: key } })
    expect([failed.code, failed.stdout, failed.stderr]).toEqual([69, '', 'The response of cut:far was cut off.\n'])
  })
})

describe('over stdio', () => {
  it('a cancelled call ends the call to the model', async () => {
    const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
    const clientInfo = { name: 'x', version: '1' }
    const child = place.start(['mcp'], { env: { ...using('never:stdio'), PROMPTS_API_KEY: key } })
    child.stdin.write(line({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } }))
    child.stdin.write(line({ method: 'notifications/initialized' }))
    child.stdin.write(line({ id: 2, method: 'tools/call', params: { name: 'improve_prompt', arguments: { prompt: PROMPT } } }))
    expect(await eventually(async () => (await models.log('never:stdio')).length === 1)).toBe(true)
    child.stdin.write(line({ method: 'notifications/cancelled', params: { requestId: 2 } }))
    expect(await eventually(async () => (await models.log('never:stdio'))[0]?.hasLeft === true)).toBe(true)
    child.stdin.end()
  })
})
