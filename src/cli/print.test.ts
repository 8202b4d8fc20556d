import { expect, it, vi } from 'vitest'
import { print, printError, printJson } from './print.ts'

it('shows control characters as marks, and keeps JSON equal', () => {
  const written: string[] = []
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  }
  const text = 'a\u001b[2J\u009b\n'
  print(text)
  printError(text)
  printJson({ text })
  vi.restoreAllMocks()
  expect(written.slice(0, 2)).toEqual(['a⟨U+001B⟩[2J⟨U+009B⟩\n', 'a⟨U+001B⟩[2J⟨U+009B⟩\n'])
  for (const control of ['\u001b', '\u009b']) expect(written.join('')).not.toContain(control)
  expect(JSON.parse(written[2] ?? '')).toEqual({ text })
})
