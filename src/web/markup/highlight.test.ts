import { readdirSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { highlightCode, stopHighlighting } from './highlight.ts'
import { languageOfFence, languageOfFile } from './languages.ts'

afterEach(stopHighlighting)

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

  it('gives up a text that holds the thread, remembers that, and goes on with the others in a new one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const slow = highlightCode('{"slow": 1}', 'json')
      const next = highlightCode('{"next": 1}', 'json')
      await vi.advanceTimersByTimeAsync(4000)
      expect(await slow).toBeNull()
      expect(await next).toContain('<span')
      expect(await highlightCode('{"slow": 1}', 'json')).toBeNull()
    } finally {
      vi.useRealTimers()
    }
  })

  it('keeps the event loop free while it works', async () => {
    let ticks = 0
    const timer = setInterval(() => {
      ticks++
    }, 5)
    await highlightCode('const a = (b) => `${c}`;\n'.repeat(2000), 'typescript')
    clearInterval(timer)
    // In place, the work would let none through until it is done.
    expect(ticks).toBeGreaterThan(5)
  })
})

describe('languages', () => {
  it('are named as fences and files name them, and each has a grammar', async () => {
    expect([languageOfFence('js title="x"'), languageOfFence('Python3'), languageOfFence('{.yaml}'), languageOfFence('')]).toEqual([
      'javascript',
      null,
      null,
      null,
    ])
    expect([languageOfFile('a/b.test.TS'), languageOfFile('Dockerfile'), languageOfFile('a.b'), languageOfFile('LICENSE')]).toEqual([
      'typescript',
      'docker',
      null,
      null,
    ])
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
