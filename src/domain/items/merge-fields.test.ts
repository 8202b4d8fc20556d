import { expect, it } from 'vitest'
import { mergeFields } from './merge-fields.ts'

it('keeps what each of two changed, and gives up where both changed the same', () => {
  const base = { title: 'a', text: 'b', note: null }
  expect(mergeFields(base, { ...base, text: 'mine' }, { ...base, title: 'theirs' })).toEqual({ title: 'theirs', text: 'mine', note: null })
  expect(mergeFields(base, base, { ...base, text: 'theirs' })).toEqual({ ...base, text: 'theirs' })
  expect(mergeFields(base, { ...base, text: 'same' }, { ...base, text: 'same' })).toEqual({ ...base, text: 'same' })
  expect(mergeFields(base, { ...base, text: 'mine' }, { ...base, text: 'theirs' })).toBeNull()
})
