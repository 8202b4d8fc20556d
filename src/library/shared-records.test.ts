import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shareRecord, toJsonText, toQuotedJsonText } from './shared-records.ts'

const record = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())

test('what is put together from kept texts is what JSON.stringify gives, once and twice, time and again', () => {
  fc.assert(
    fc.property(fc.array(record), fc.array(record), record, fc.boolean(), (kept, made, around, isMixed) => {
      const records = [...kept.map(shareRecord), ...(isMixed ? [...made, undefined, null] : [])]
      const answer = { ...around, before: undefined, prompts: records, none: [], 'wei"rd': 1, count: records.length, others: records }
      for (let time = 0; time < 2; time++) {
        expect(toJsonText(answer)).toBe(JSON.stringify(answer))
        expect(toQuotedJsonText(answer)).toBe(JSON.stringify(JSON.stringify(answer)))
      }
    }),
  )
})
