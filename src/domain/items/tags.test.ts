import { expect, it } from 'vitest'
import { AppError } from '../../errors.ts'
import { toTags } from './tags.ts'

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
