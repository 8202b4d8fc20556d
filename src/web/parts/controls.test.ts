import { jsx } from 'hono/jsx'
import { expect, it } from 'vitest'
import { GERMAN } from '../strings/de/index.ts'
import { ENGLISH } from '../strings/index.ts'
import { drawOnce } from './controls.tsx'

it('draws a part once for each language and key', () => {
  let drawn = 0
  const draw = (text: string) => () => {
    drawn++
    return jsx('b', {}, text)
  }
  const shown = [
    drawOnce(ENGLISH, 'a', draw('<1>')),
    drawOnce(ENGLISH, 'a', draw('2')),
    drawOnce(ENGLISH, 'b', draw('3')),
    drawOnce(GERMAN, 'a', draw('4')),
  ]
  expect(shown.map(String)).toEqual(['<b>&lt;1&gt;</b>', '<b>&lt;1&gt;</b>', '<b>3</b>', '<b>4</b>'])
  expect(drawn).toBe(3)
})

it('refuses a part that waits', () => {
  expect(() => drawOnce(ENGLISH, 'slow', () => jsx(async () => jsx('b', {}), {}))).toThrow('waits for nothing')
})
