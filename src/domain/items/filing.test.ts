import { expect, it } from 'vitest'
import { AppError } from '../../errors.ts'
import { mergeFields, toTags } from './filing.ts'

it('merges tags of one slug under the first spelling and keeps the order', () => {
  expect(toTags(['Machine Learning', 'C++', 'machine-learning', 'C#', 'MACHINE LEARNING'])).toEqual([
    { name: 'Machine Learning', slug: 'machine-learning' },
    { name: 'C++', slug: 'cplusplus' },
    { name: 'C#', slug: 'csharp' },
  ])
})

it('trims a name and reads both spellings of a letter as one', () => {
  expect(toTags(['  cafe\u0301 ', 'caf\u00e9'])).toEqual([{ name: 'caf\u00e9', slug: 'cafe' }])
})

it.each(['', '   ', '!!!', '🎉'])('refuses %j, of which nothing is left, and names it', (name) => {
  expect(() => toTags(['fine', name])).toThrow(
    expect.objectContaining({ code: 'invalid_input', details: [expect.objectContaining({ path: 'tags[1]' })] }),
  )
  expect(() => toTags([name])).toThrow(AppError)
})

it('keeps what each of two changed, and gives up where both changed the same', () => {
  const base = { title: 'a', text: 'b', note: null }
  expect(mergeFields(base, { ...base, text: 'mine' }, { ...base, title: 'theirs' })).toEqual({ title: 'theirs', text: 'mine', note: null })
  expect(mergeFields(base, base, { ...base, text: 'theirs' })).toEqual({ ...base, text: 'theirs' })
  expect(mergeFields(base, { ...base, text: 'same' }, { ...base, text: 'same' })).toEqual({ ...base, text: 'same' })
  expect(mergeFields(base, { ...base, text: 'mine' }, { ...base, text: 'theirs' })).toBeNull()
})
