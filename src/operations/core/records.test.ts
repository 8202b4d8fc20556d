import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeControlsInJson } from '../../domain/text/characters.ts'
import { cutJsonText, fitContents } from './records.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\u0001', '\u202e', 'a', '🦭'), maxLength: 300 }),
)
const length = (value: unknown) => escapeControlsInJson(JSON.stringify(value)).length

describe('cutJsonText', () => {
  it('is the longest beginning that fits, of whole characters', () => {
    fc.assert(
      fc.property(text, fc.nat({ max: 400 }), (whole, room) => {
        const cut = cutJsonText(whole, room)
        expect(whole.startsWith(cut)).toBe(true)
        expect(length(cut) - 2).toBeLessThanOrEqual(room)
        const next = String.fromCodePoint(...[...whole].slice(0, [...cut].length + 1).map((one) => one.codePointAt(0) ?? 0))
        if (cut !== whole) expect(length(next) - 2).toBeGreaterThan(room)
      }),
    )
  })
})

describe('fitContents', () => {
  it('keeps every record, fits where that is possible, and cuts only what is longer than what it leaves of others', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 8 }), fc.nat({ max: 2_000 }), (contents, budget) => {
        const records = contents.map((content, place) => ({ place, content }))
        const around = length({ records: [] }) + records.length - 1
        const fitted = fitContents(records, around, budget)
        expect(fitted.map(({ place }) => place)).toEqual(records.map(({ place }) => place))
        const empty = records.map((record) => ({ ...record, content: '', contentTruncated: true }))
        expect(length({ records: fitted })).toBeLessThanOrEqual(Math.max(budget, length({ records: empty })))
        const isCut = (place: number) => 'contentTruncated' in (fitted[place] ?? {})
        for (const { place, content } of fitted)
          expect(isCut(place) ? contents[place]?.startsWith(content) : contents[place] === content).toBe(true)
        const cut = records.filter(({ place }) => isCut(place)).map(({ content }) => length(content))
        const whole = records.filter(({ place }) => !isCut(place)).map(({ content }) => length(content))
        if (cut.length > 0 && whole.length > 0) expect(Math.min(...cut)).toBeGreaterThan(Math.max(...whole))
        if (length({ records }) <= budget) expect(fitted).toEqual(records)
      }),
    )
  })
})
