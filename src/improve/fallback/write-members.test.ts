import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseVariables } from '../../library/variables.ts'
import { type Members, toMembers, writeJson, writeYaml } from './write-members.ts'

const own = (title: string, text: string) => ({ part: null, title, text, isOwn: true })

it('makes short headings keys, flat lists arrays, and labelled items texts by name', () => {
  expect(toMembers([own('Must Have', '- a\n- b'), own('Look & feel', '1. x\n2. y'), own('Facts', '- Place: Rome\n- Time: noon')])).toEqual([
    ['mustHave', ['a', 'b']],
    ['lookFeel', ['x', 'y']],
    ['facts', { place: 'Rome', time: 'noon' }],
  ])
})

it('keeps a long heading, a second one of the same name, and a heading without text', () => {
  expect(toMembers([own('My Title', ''), own('What I would like to see here', 'a'), own('Note', 'b'), own('Note', 'c')])).toEqual([
    ['title', 'My Title'],
    ['section', 'What I would like to see here:\na'],
    ['note', 'b'],
    ['note2', 'Note:\nc'],
  ])
})

it('keeps a list that is nested or numbered otherwise as it was written', () => {
  expect(toMembers([own('A', '- a\n  - b'), own('B', '3. a\n4. b')])).toEqual([
    ['a', '- a\n  - b'],
    ['b', '3. a\n4. b'],
  ])
})

const members: fc.Arbitrary<Members> = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('${a: x', '}', '{', '\n', ' \n\n a', '- b', '# c', 'no', '1.0', '\t', '\u0000', '\u0085', '\ufeff', '\ud800'),
    ),
    { maxLength: 6 },
  )
  .map((texts) => [
    ['task', texts.join('')],
    ['constraints', texts],
  ])

it('is read back as it was written, from JSON and from YAML', () => {
  fc.assert(
    fc.property(members, (value) => {
      const object = Object.fromEntries(value)
      expect(JSON.parse(writeJson(value))).toEqual(object)
      // YAML is text in UTF-8: half of a surrogate pair has no form in it.
      if (JSON.stringify(value).isWellFormed()) expect(parse(writeYaml(object))).toEqual(object)
    }),
  )
})

it('keeps white space at the ends of lines beside characters that must be quoted', () => {
  const object = { task: '\n \n\n a\u0000\u0000\u0000\u0000\u0000 and some more words after it' }
  expect(parse(writeYaml(object))).toEqual(object)
})

it('does not let the braces of the object close a variable the writer left open', () => {
  const json = writeJson([['task', 'Hi ${name: you']])
  expect(parseVariables(json).variables).toEqual([])
  expect(JSON.parse(json)).toEqual({ task: 'Hi ${name: you' })
})
