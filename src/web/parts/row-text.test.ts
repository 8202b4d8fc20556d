import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { type Marks, readMarks } from '../../search/analysis/mark-words.ts'
import { drawRowText, findPassage, readPassage, readStart } from './row-text.ts'

const TEXTS = { title: 'Fix <pipes>', description: 'For a plumber & others', content: 'Call ${name} at once.' }
let last = 0
const draw = (texts: Partial<Parameters<typeof drawRowText>[1]>, query: string | null, isNear = false, id = `item-${++last}`) => {
  const { title, description, words, blanks } = drawRowText(id, { ...TEXTS, ...texts }, query === null ? null : readMarks(query), isNear)
  return { title: String(title), description: description && String(description), words: String(words), blanks }
}

/** Bytes of the heap that are still held after some work. */
function heldBy(work: () => void): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = held()
  work()
  return held() - before
}

describe('drawRowText', () => {
  it('escapes texts, shows blanks as chips, and has no words for a skill', () => {
    const [title, description] = ['Fix &lt;pipes&gt;', 'For a plumber &amp; others']
    expect(draw({}, null)).toEqual({ title, description, words: 'Call <span class="chip">name</span> at once.', blanks: 1 })
    expect(draw({ content: null, description: null }, 'plumber')).toEqual({ title, description: null, words: '', blanks: 0 })
  })

  it('marks the words of a query in each of them, and none that reaches from one text into the next', () => {
    expect(draw({}, 'pipe plumbers names ')).toMatchObject({
      title: 'Fix &lt;<mark>pipes</mark>&gt;',
      description: 'For a <mark>plumber</mark> &amp; others',
      words: 'Call <span class="chip"><mark>name</mark></span> at once.',
    })
    const texts = { title: 'car', description: 'pet' }
    expect(draw({ ...texts, content: 'carpet' }, 'carpet ')).toMatchObject({ ...texts, words: '<mark>carpet</mark>' })
  })

  const long = `${'one two three '.repeat(40)}\nThen call a **plumber** at once.`
  it('shows a passage when nothing else of the row is marked, unless the item is near in meaning alone', () => {
    const texts = { description: null, content: long }
    expect(draw(texts, 'plumber ').words).toBe('… Then call a <mark>plumber</mark> at once.')
    expect(draw(texts, 'plumber ', true).words).toMatch(/^one two three/)
    expect(draw({ ...texts, title: 'Plumber' }, 'plumber ').words).toMatch(/^one two three/)
    expect(draw({ content: long }, 'plumber ').words).toMatch(/^one two three/)
  })

  it('shows a passage where a mark is only beyond the first line of a description', () => {
    const description = `${'x '.repeat(60)}plumber`
    expect(draw({ description, content: long }, 'plumber ').words).toBe('… Then call a <mark>plumber</mark> at once.')
  })

  const japanese = 'これは長い文章であり空白がない。'
  it.each([
    [
      'text without spaces',
      `${japanese.repeat(20)}\nここで ChatGPT は次の文章を翻訳します。${japanese.repeat(90)}`,
      '翻訳 ',
      /<mark>翻訳<\/mark>します/,
    ],
    [
      'a blank with a long default',
      `${long} Call the plumber for \${topic:${'word '.repeat(900)}} and go.`,
      'topic ',
      /chip"><mark>topic<\/mark><\/span> and go\.$/,
    ],
    [
      'a long value of JSON',
      `${'one two '.repeat(30)}{"a":"b","system":"A plumber ${'who waits '.repeat(150)}","end":"z"}`,
      'plumber ',
      /A <mark>plumber<\/mark> who/,
    ],
    [
      'a long comment',
      `${'one two '.repeat(30)}\nA plumber <!-- ${'never '.repeat(250)} --> comes.`,
      'plumber ',
      /^… A <mark>plumber<\/mark> comes\.$/,
    ],
    ['a place far from any space', `a ${japanese.repeat(120)}翻訳します`, '翻訳 ', /<mark>翻訳<\/mark>します/],
  ])('shows the marked word in %s', (_, content, query, passage) => {
    expect(draw({ description: null, content }, query).words).toMatch(passage)
  })

  it('keeps little of texts, also when they are short or every letter is a word', () => {
    const short = heldBy(() => {
      for (let item = 0; item < 40_000; item++) draw({ title: 'a', description: null, content: `b${item}` }, null)
    })
    expect(short).toBeLessThan(12_000_000)
    const words = heldBy(() => {
      for (let item = 0; item < 300; item++) draw({ description: null, content: '東京都の人'.repeat(700) + item }, 'plumber ')
    })
    expect(words).toBeLessThan(12_000_000)
  })

  it('shows a passage where the end of the first line cuts a marked word', () => {
    const content = `${'one two '.repeat(12)}plumbers come.`
    expect(draw({ description: null, content }, 'plumber ').words).toMatch(/^… .*<mark>plumbers<\/mark> come\.$/)
    expect(draw({ description: null, content: content.slice(8) }, 'plumber ').words).toMatch(/^one two .*<mark>plumbers<\/mark> come\.$/)
  })

  it('reads a text again that has changed', () => {
    expect(draw({}, null, false, 'same').title).toBe('Fix &lt;pipes&gt;')
    expect(draw({ title: 'New' }, null, false, 'same').title).toBe('New')
    expect(draw({ title: 'New', content: 'Other' }, null, false, 'same').words).toBe('Other')
    expect(draw({ title: 'New', content: 'Other', description: null }, null, false, 'same').description).toBeNull()
  })
})

const marks = (query: string): Marks => {
  const read = readMarks(query)
  if (!read) throw new Error('no marks')
  return read
}

describe('findPassage', () => {
  const long = `${'one two three '.repeat(40)}\nThen call a plumber at once.`
  it('begins at the line of a word that stands further on', () => {
    expect(long.slice(findPassage(readStart(long), marks('plumber ')))).toBe('Then call a plumber at once.')
  })
  it('begins at a word when the line is long', () => {
    const text = `${'one two three '.repeat(40)}plumber`
    const passage = text.slice(findPassage(readStart(text), marks('plumber ')))
    expect(passage).toMatch(/^(?:one|two|three) .*plumber$/)
    expect(passage.length).toBeLessThan(100)
  })
  it.each([['plumber first'], ['nothing of it '.repeat(50)], [''], [`${'x'.repeat(9_000)} plumber`]])(
    'is the beginning otherwise',
    (text) => {
      expect(findPassage(readStart(text), marks('plumber '))).toBe(0)
    },
  )
})

describe('readPassage', () => {
  const shown = (text: string, start: number) =>
    readPassage(text, start)
      .map((piece) => ('text' in piece ? piece.text : piece.blank))
      .join('')
  it('is the first words from a place on, without markup', () => {
    expect(shown('# Title\n\nCall a **plumber**, ${name}.', 9)).toBe('Call a plumber, name.')
  })
  it('reads a long text no further than it shows', () => {
    expect(shown(`${'word '.repeat(100_000)}`, 5).length).toBeLessThanOrEqual(240)
  })
})
