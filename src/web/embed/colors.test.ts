import fc from 'fast-check'
import { expect, it } from 'vitest'
import { contrastOf, DEFAULT_COLORS, inkOn, makeEmbedColors } from './colors.ts'

const anyColor = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)

it('measures contrast as WCAG does', () => {
  expect(contrastOf('#000000', '#ffffff')).toBe(21)
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
})

it('can be read, whatever colour is given', () => {
  const extremes = ['#000000', '#ffffff', '#ffff00', '#0000ff', '#777777', '#808080', DEFAULT_COLORS.light, DEFAULT_COLORS.dark]
  fc.assert(
    fc.property(fc.constantFrom('light' as const, 'dark' as const), fc.oneof(fc.constantFrom(...extremes), anyColor), (theme, color) => {
      const { paper, panel, wash, ink, quiet, accent, onAccent, washInk, added, addedInk, removed, removedInk } = makeEmbedColors(
        theme,
        color,
      )
      const pairs = [
        ...[paper, panel, wash].flatMap((background) => [
          [ink, background],
          [washInk, background],
        ]),
        ...[paper, panel].map((background) => [quiet, background]),
        ...[panel, added].map((background) => [addedInk, background]),
        ...[panel, removed].map((background) => [removedInk, background]),
        [onAccent, accent],
      ]
      for (const [text = '', background = ''] of pairs) {
        expect(contrastOf(text, background), `${theme} ${color}: ${text} on ${background}`).toBeGreaterThanOrEqual(4.5)
      }
      expect(accent).toBe(color)
    }),
  )
  expect([inkOn('#ffff00'), inkOn('#00008b')]).toEqual(['#000000', '#ffffff'])
})
