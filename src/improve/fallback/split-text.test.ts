import { expect, it } from 'vitest'
import { splitLines, splitSentences } from './split-text.ts'

it('does not end a line inside a variable', () => {
  expect(splitLines('a\n${b:c\nd} e\nf')).toEqual(['a', '${b:c\nd} e', 'f'])
})

it.each([
  ['Write a poem. Do not rhyme.', ['Write a poem.', 'Do not rhyme.']],
  ['do it now. then stop', ['do it now.', 'then stop']],
  ['Use tools, e.g. a saw. Be quick!', ['Use tools, e.g. a saw.', 'Be quick!']],
  ['My request is "Help me. I am lost." Thanks.', ['My request is "Help me. I am lost." Thanks.']],
  ['Wait... what?', ['Wait... what?']],
  ['Version 1.10 is out. Go.', ['Version 1.10 is out.', 'Go.']],
  ['写一首诗。不要押韵。', ['写一首诗。', '不要押韵。']],
  ['Keep ${a:x. y} whole. End.', ['Keep ${a:x. y} whole.', 'End.']],
  ['An (open bracket. That never closes.', ['An (open bracket. That never closes.']],
])('%j', (line, sentences) => {
  expect(splitSentences(line)).toEqual(sentences)
})
