import { describe, expect, it } from 'vitest'
import { showText } from './show-text.ts'

/** A screen, and what was written on it. */
function screen(isTTY: boolean) {
  const written: string[] = []
  return { isTTY, write: (text: string) => written.push(text), read: () => written.join('') }
}

/** Shows an answer that comes in these pieces (null: asked again), and gives what stands on stdout and stderr. */
async function show(ttys: [stdout: boolean, stderr: boolean], pieces: readonly (string | null)[], result: string, isResultText = true) {
  const stdout = screen(ttys[0])
  const stderr = screen(ttys[1])
  const display = showText(stdout, stderr, isResultText)
  for (const piece of pieces) await display.onText(piece === null ? { kind: 'restart' } : { kind: 'delta', text: piece })
  display.finish(result)
  return [stdout.read(), stderr.read()]
}

describe('showText', () => {
  it('prints the result alone where nobody watches', async () => {
    expect(await show([false, false], ['on', 'e'], 'one')).toEqual(['one\n', ''])
  })

  it('shows the text on a terminal once, as it comes', async () => {
    expect(await show([true, true], ['on', 'e'], 'one')).toEqual(['one\n', ''])
    expect(await show([true, true], ['one\n'], 'one')).toEqual(['one\n\n', ''])
  })

  it('shows it on stderr when stdout goes elsewhere', async () => {
    expect(await show([false, true], ['on', 'e'], 'one')).toEqual(['one\n', 'one\n'])
    expect(await show([true, true], ['on', 'e'], '{}', false)).toEqual(['{}\n', 'one\n'])
  })

  it('tells when what was shown is void, and shows the result when it is another', async () => {
    expect(await show([true, false], ['wrong', null, 'right'], 'right')).toEqual([
      'wrong\n\n(Unusable answer; asking the model again.)\n\nright\n',
      '',
    ])
    expect(await show([true, false], ['```\n{}\n```'], '{}')).toEqual(['```\n{}\n```\n\nResult:\n\n{}\n', ''])
    expect(await show([true, false], [], 'one')).toEqual(['one\n', ''])
  })

  it('lets no text command a terminal, and changes nothing elsewhere', async () => {
    const text = 'a\u001b]0;title\u0007\tb\r\n\u009b31mc\r\u202e'
    const shown = 'a⟨U+001B⟩]0;title⟨U+0007⟩\tb\r\n⟨U+009B⟩31mc⟨U+000D⟩⟨U+202E⟩\n'
    expect(await show([true, false], [text], text)).toEqual([shown, ''])
    expect(await show([true, false], [], text)).toEqual([shown, ''])
    expect(await show([false, false], [text], text)).toEqual([`${text}\n`, ''])
  })

  it('ends the line where a text broke off', async () => {
    const stdout = screen(true)
    const display = showText(stdout, screen(true), true)
    await display.onText({ kind: 'delta', text: 'half a' })
    display.breakOff()
    expect(stdout.read()).toBe('half a\n')
  })
})
