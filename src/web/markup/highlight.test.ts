import { readdirSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { createTextCache, highlightCode as highlight, type Made, stopHighlighting } from './highlight.ts'
import { languageOfFence, languageOfFile } from './markdown.ts'

afterAll(stopHighlighting)

const highlightCode = async (code: string, language: string) => (await highlight(code, language)).text
/** Terraform on which a pattern of its grammar goes back and forth for seconds. */
const hostile = (mark: string) => `${'1e'.repeat(470)}${mark}`

describe('highlightCode', () => {
  it('gives each kind of word a class, and no style', async () => {
    const html = await highlightCode('// why\nconst a = "<b>" + f(1)\n', 'typescript')
    expect(html).toContain('<span class="t-comment">// why</span>')
    expect(html).toContain('<span class="t-keyword">const</span>')
    expect(html).toContain('&lt;b&gt;')
    expect(html).not.toMatch(/style=|<b>/)
  })

  it('changes nothing of the text', async () => {
    const code = 'def f(x):\n\treturn "<&>" # ümläut 文\n\n\nlast'
    const html = (await highlightCode(code, 'python')) ?? ''
    const text = html.replaceAll(/<\/?span[^>]*>/g, '')
    expect(text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')).toBe(code)
  })

  it('leaves what is too long or not known plain', async () => {
    expect(await highlightCode('a'.repeat(100_001), 'json')).toBeNull()
    expect(await highlightCode('a', 'klingon')).toBeNull()
    const line = `"${'a'.repeat(2000)}"`
    expect(await highlightCode(line, 'json')).toBe(`&quot;${'a'.repeat(2000)}&quot;`)
  })

  it('answers many at once, and none when it is stopped', async () => {
    const answers = Array.from({ length: 10 }, (_, n) => highlightCode(`{"n": ${n}}`, 'json'))
    const shown = await Promise.all(answers)
    expect(new Set(shown).size).toBe(10)
    const last = highlightCode('{"m": 1}', 'json')
    await Promise.resolve()
    stopHighlighting()
    expect(await last).toBeNull()
    expect(await highlightCode('{"m": 1}', 'json')).toContain('<span')
  })

  it('stops a block that takes too long, remembers that, and goes on with the others in a new thread', async () => {
    const slow = highlightCode(hostile('a'), 'terraform')
    const next = highlightCode('{"next": 1}', 'json')
    expect(await slow).toBeNull()
    expect(await next).toContain('<span')
    expect(await highlight(hostile('a'), 'terraform')).toEqual({ text: null, isKept: true })
  })

  it('does not remember what only lost because the rest of its text took the time', async () => {
    await highlightCode('a = 1', 'terraform')
    // real time: the budget is one of time, and what asks for more never ends
    const budget = { leftMs: 50, endsAt: performance.now() + 5000, hasHopelessBlock: false }
    expect(await highlight(hostile('b'), 'terraform', { budget })).toEqual({ text: null, isKept: false })
    expect(budget).toMatchObject({ leftMs: 0, hasHopelessBlock: false })
    expect(await highlight('{"c": 1}', 'json', { budget })).toEqual({ text: null, isKept: false })
    expect(await highlightCode('{"c": 1}', 'json')).toContain('<span')
  })

  it('lets who waits leave, and whoever asks next has the code highlighted', async () => {
    const reader = new AbortController()
    const first = highlightCode('{"first": 1}', 'json')
    const left = highlight('{"left": 1}', 'json', { signal: reader.signal })
    reader.abort()
    expect(await left).toEqual({ text: null, isKept: false })
    expect(await first).toContain('<span')
    expect(await highlightCode('{"left": 1}', 'json')).toContain('<span')
  })

  it('has nobody wait for long when many hostile blocks are before', async () => {
    // real time: the budget is one of time, and what asks for more never ends
    const budget = { leftMs: 1000, endsAt: performance.now() + 300, hasHopelessBlock: false }
    const before = Array.from({ length: 2 }, (_, n) => highlightCode(hostile(`before ${n}`), 'terraform'))
    expect(await highlight('{"patient": 1}', 'json', { budget })).toEqual({ text: null, isKept: false })
    stopHighlighting()
    await Promise.all(before)
  })

  it('keeps the event loop free while it works', async () => {
    let ticks = 0
    const timer = setInterval(() => {
      ticks++
    }, 5)
    await highlightCode('const a = (b) => `${c}`;\n'.repeat(250), 'typescript')
    clearInterval(timer)
    // In place, the work would let none through until it is done.
    expect(ticks).toBeGreaterThan(5)
  })
})

describe('languages', () => {
  it('are named as fences and files name them, and each has a grammar', async () => {
    const fences = ['js title="x"', 'Python3', '{.yaml}', '']
    expect(fences.map(languageOfFence)).toEqual(['javascript', null, null, null])
    const files = ['a/b.test.TS', 'Dockerfile', 'a.b', 'LICENSE']
    expect(files.map(languageOfFile)).toEqual(['typescript', 'docker', null, null])
    for (const name of [
      'bash',
      'c',
      'cs',
      'css',
      'diff',
      'dockerfile',
      'go',
      'html',
      'java',
      'jsx',
      'md',
      'php',
      'ps1',
      'rb',
      'rs',
      'sql',
      'tf',
      'toml',
      'xml',
      'yml',
    ])
      expect(readdirSync('node_modules/shiki/dist/langs'), name).toContain(`${languageOfFence(name)}.mjs`)
  })
})

it('remembers what was made, null too, and forgets the least used first', async () => {
  const cache = createTextCache(10)
  const made: string[] = []
  const find = (key: string, text: string | null, isKept = true) =>
    cache.find([key], async () => {
      made.push(key)
      return { text, isKept }
    })
  await find('a', 'aaaa')
  await find('b', null)
  await find('a', 'aaaa')
  await find('b', null)
  expect(made).toEqual(['a', 'b'])
  await find('c', 'cccc')
  await find('a', 'aaaa')
  await find('d', 'dddd')
  made.length = 0
  await find('a', 'aaaa')
  await find('c', 'cccc')
  expect(made).toEqual(['c'])
  // What is good for now alone is made again.
  expect([await find('e', 'now', false), await find('e', 'e')]).toEqual([
    { text: 'now', isKept: false },
    { text: 'e', isKept: true },
  ])
})

it('tells parts apart', async () => {
  const cache = createTextCache(100)
  expect((await cache.find(['ab', 'c'], async () => ({ text: '1', isKept: true }))).text).toBe('1')
  expect((await cache.find(['a', 'bc'], async () => ({ text: '2', isKept: true }))).text).toBe('2')
})

/** Work that ends when told, and counts how often it was begun. */
function slowWork() {
  const ends: ((made: Made) => void)[] = []
  const signals: AbortSignal[] = []
  const make = (signal: AbortSignal) => {
    signals.push(signal)
    return new Promise<Made>((resolve) => ends.push(resolve))
  }
  return { make, signals, end: (text: string) => ends.shift()?.({ text, isKept: true }) }
}

it('makes a text once for all who ask meanwhile', async () => {
  const cache = createTextCache(100)
  const { make, signals, end } = slowWork()
  const both = Promise.all([cache.find(['a'], make), cache.find(['a'], make)])
  end('made')
  expect((await both).map(({ text }) => text)).toEqual(['made', 'made'])
  expect(signals.length).toBe(1)
  const alone = Promise.all([cache.find(['b'], make, { isShared: false }), cache.find(['b'], make)])
  expect(signals.length).toBe(3)
  end('own')
  end('other')
  expect((await alone).map(({ text }) => text)).toEqual(['own', 'other'])
})

it('ends the work when the last reader has left, and not before', async () => {
  const cache = createTextCache(100)
  const { make, signals, end } = slowWork()
  const [first, second] = [new AbortController(), new AbortController()]
  const one = cache.find(['a'], make, { signal: first.signal })
  const two = cache.find(['a'], make, { signal: second.signal })
  first.abort()
  expect(await one).toEqual({ text: null, isKept: false })
  expect(signals[0]?.aborted).toBe(false)
  second.abort()
  expect((await two).text).toBeNull()
  expect(signals[0]?.aborted).toBe(true)
  // Who comes next has it made anew.
  const third = cache.find(['a'], make)
  expect(signals.length).toBe(2)
  end('late')
  end('made')
  expect((await third).text).toBe('made')
  expect((await cache.find(['b'], make, { signal: first.signal })).text).toBeNull()
  expect(signals.length).toBe(2)
})
