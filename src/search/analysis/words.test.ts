import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eachWord, readQueryWords } from './words.ts'

function wordsOf(text: string): string[] {
  const words: string[] = []
  eachWord(text, (word) => words.push(word))
  return words
}
const queryWords = (text: string) => readQueryWords(text, Number.POSITIVE_INFINITY).words

/** Pieces of texts in which something about words happens. */
const piece = fc.constantFrom(
  ...['a', 'b7', 'the', 'Foo', 'ÉTÉ', 'é', 'e\u0301', 'ß', 'İ', 'ﬁ', 'ё', '42', 'x'.repeat(50), '𝓍', '\uE000'],
  ...['北', '京', '大学', 'ひらがな', 'カー', 'ｶﾞ', '한국어', 'ภาษาไทย', 'ລາວ', 'ខ្មែរ', 'မြန်မာ', '𠮷'],
  ...['c++', 'C#', '+', '#', '-', "'", '’', '_', '.', ',', ' ', '\n', '\u3000', '"', '*', '(', '/', '😀', '❤️', '\0', '\ud800', '\udfff'],
)
const anyText = fc.oneof(
  fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
  // Forms that unfold into capitals are left to the reported faults below.
  fc.string({ unit: 'binary', maxLength: 60 }).filter((text) => !/\p{Lu}/u.test(text.toLowerCase().normalize('NFKD'))),
)

describe('eachWord', () => {
  it.each<[string, string, readonly string[]]>([
    ['nothing', '', []],
    ['signs alone', '!!! -- … 😀 ❤️ "', []],
    ['order and repeats', 'the cat saw the cat', ['the', 'cat', 'saw', 'the', 'cat']],
    ['capitals', 'Linux TERMINAL', ['linux', 'terminal']],
    ['accents', 'Résumé ÜBER naïve', ['resume', 'uber', 'naive']],
    ['accents as marks of their own', 're\u0301sume\u0301', ['resume']],
    ['a dotted capital I', 'İstanbul', ['istanbul']],
    ['Cyrillic, with its marks', 'Привет ещё йод', ['привет', 'еще', 'иод']],
    ['ligatures and wide letters', 'ﬁne ＡＢＣ', ['fine', 'abc']],
    [
      'all letters and digits',
      'abcdefghijklmnopqrstuvwxyz-x 0123456789',
      ['abcdefghijklmnopqrstuvwxyz', 'x', 'abcdefghijklmnopqrstuvwxyzx', '0123456789'],
    ],
    ['letters and digits in one', 'gpt4 v1 x2y', ['gpt4', 'v1', 'x2y']],
    ['a NUL and half a surrogate pair part words', 'a\0b c\ud800d \udc00e', ['a', 'b', 'c', 'd', 'e']],
    ['private use characters are letters', '\uE000x', ['\uE000x']],
  ])('reads %s', (_, text, expected) => {
    expect(wordsOf(text)).toEqual(expected)
  })

  it.each<[string, readonly string[]]>([
    ['tic-tac-toe', ['tic', 'tac', 'toe', 'tictactoe']],
    ['e-mail me', ['e', 'mail', 'email', 'me']],
    ["don't", ['don', 't', 'dont']],
    ['don’t', ['don', 't', 'dont']],
    ['snake_case', ['snake', 'case', 'snakecase']],
    ['node.js', ['node', 'js', 'nodejs']],
    ['l’été', ['l', 'ete', 'lete']],
    ['a-1', ['a', '1', 'a1']],
  ])('joins the parts of %j', (text, expected) => {
    expect(wordsOf(text)).toEqual(expected)
  })

  it.each<[string, string, readonly string[]]>([
    ['over the end of a sentence', 'one end. Next', ['one', 'end', 'next']],
    ['over the end of a sentence without a space', 'the end.Next one', ['the', 'end', 'next', 'one']],
    ['over two points', 'a.b.js', ['a', 'b', 'js']],
    ['a point and a hyphen', 'node.js-based', ['node', 'js', 'based']],
    ['digits alone', '2024-01-31 1.5 192_168', ['2024', '01', '31', '1', '5', '192', '168']],
    ['over two joiners', 'a--b x__y', ['a', 'b', 'x', 'y']],
    ['over other signs', 'a/b a+b a:b a b', ['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b']],
    ['beyond the longest', `${'a'.repeat(20)}-${'b'.repeat(20)}`, ['a'.repeat(20), 'b'.repeat(20)]],
    ['other scripts', 'привет-мир', ['привет', 'мир']],
    ['what hangs on one side only', '-a b- _c_', ['a', 'b', 'c']],
  ])('does not join %s', (_, text, expected) => {
    expect(wordsOf(text)).toEqual(expected)
  })

  it('never makes one word of a long chain', () => {
    const parts = [...'abcdefghijklmnop']
    const words = wordsOf(parts.join('-'))
    expect(words.filter((word) => word.length === 1)).toEqual(parts)
    for (const word of words) expect(word.length, word).toBeLessThanOrEqual(4)
    expect(words.length).toBeLessThan(2 * parts.length)
  })

  it.each<[string, readonly string[]]>([
    ['C++', ['c', 'cplusplus']],
    ['c# or F#.', ['c', 'csharp', 'or', 'f', 'fsharp']],
    ['(c++)', ['c', 'cplusplus']],
    ['abc++', ['abc']],
    ['c++11', ['c', '11']],
    ['#1 a + b', ['1', 'a', 'b']],
  ])('knows the signs of %j', (text, expected) => {
    expect(wordsOf(text)).toEqual(expected)
  })

  it.each<[string, string, readonly string[]]>([
    ['Chinese', '北京大', ['北', '京', '北京', '大', '京大']],
    ['one character', '北', ['北']],
    ['characters beyond the first plane', '𠮷野', ['𠮷', '野', '𠮷野']],
    ['Japanese', 'カード', ['カ', 'ー', 'カー', 'ド', 'ード']],
    ['narrow Japanese as wide', 'ｶﾞ', ['ガ']],
    ['Korean', '한국어', ['한', '국', '한국', '어', '국어']],
    ['Korean in letters of its own', '한국'.normalize('NFD'), ['한', '국', '한국']],
    ['Thai, marks with what they stand on', 'ที่นี่', ['ที่', 'นี่', 'ที่นี่']],
    ['Latin, then Chinese', 'GPT模型', ['gpt', '模', '型', '模型']],
    ['Chinese around Latin, no pair over it', '用GPT写作', ['用', 'gpt', '写', '作', '写作']],
    ['no pair over a space', '北京 大学', ['北', '京', '北京', '大', '学', '大学']],
  ])('splits %s', (_, text, expected) => {
    expect(wordsOf(text)).toEqual(expected)
  })

  it('cuts a very long word, the same wherever it stands, and never through a surrogate pair', () => {
    const long = 'x'.repeat(10_000)
    const [cut = ''] = wordsOf(long)
    expect(wordsOf(long)).toEqual([cut])
    expect(cut.length).toBeLessThan(100)
    expect(long.startsWith(cut)).toBe(true)
    expect(queryWords(long)).toEqual([cut])
    for (const lead of ['', 'a']) {
      const [word = ''] = wordsOf(lead + '𐐨'.repeat(100))
      expect(word.length).toBeGreaterThan(20)
      expect(word.isWellFormed()).toBe(true)
    }
  })

  it('gives the same words for ASCII whatever stands beside it', () => {
    const ascii = fc.oneof(
      fc.string({ unit: 'binary-ascii', maxLength: 40 }),
      fc
        .array(fc.constantFrom('a', 'B', 'foo', '1', 'c++', 'C#', '-', '.', '_', "'", ' ', '\0', '!', 'js', '~', '@', '[', '`', '{'), {
          maxLength: 12,
        })
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(ascii, (text) => {
        expect(wordsOf(`${text} é`)).toEqual([...wordsOf(text), 'e'])
        expect(queryWords(`${text} é`)).toEqual([...queryWords(text), 'e'])
      }),
    )
  })

  it('gives words of letters, digits and their marks, short and well-formed, for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const word of [...wordsOf(text), ...queryWords(text)]) {
          expect(word).toMatch(/^[\p{L}\p{N}\p{M}\p{Co}\ufffd]+$/u)
          expect(word.length).toBeLessThanOrEqual(64)
          expect(word.isWellFormed()).toBe(true)
        }
      }),
    )
  })

  it('reads capitals and accents as the plain letters', () => {
    const plain = fc.string({ unit: fc.constantFrom(...'abcdeo19 -.'), maxLength: 20 })
    fc.assert(
      fc.property(plain, (text) => {
        expect(wordsOf(text.toUpperCase())).toEqual(wordsOf(text))
        expect(wordsOf(text.replaceAll('e', 'é').replaceAll('o', 'O\u0308'))).toEqual(wordsOf(text))
      }),
    )
  })

  it('makes small letters of signs and styles, and keeps a trade mark’s sign out of the name', () => {
    expect(['№ 5', '𝐁𝐨𝐥𝐝', '℡'].map(wordsOf)).toEqual([['no', '5'], ['bold'], ['tel']])
    expect([wordsOf('𝐁𝐨𝐥𝐝'), wordsOf('𝒳')]).toEqual([queryWords('𝐁𝐨𝐥𝐝'), queryWords('𝒳')])
    expect(wordsOf('Claude™ – Code')).toEqual(expect.arrayContaining(['claude', 'code']))
  })
})

describe('readQueryWords', () => {
  it.each<[string, readonly string[], boolean]>([
    ['linux term', ['linux', 'term'], true],
    ['  Linux\tTERM\n', ['linux', 'term'], false],
    ['prom', ['prom'], true],
    ['prom\0', ['prom'], false],
    ['prom!', ['prom'], false],
    ['same same', ['same', 'same'], true],
    ['snake_case', ['snake', 'case'], true],
    ['c++', ['cplusplus'], false],
    ['C# code', ['csharp', 'code'], true],
    ['北京', ['北京'], false],
    ['北', ['北'], false],
    ['北京大学', ['北京', '京大', '大学'], false],
    ['GPT模型', ['gpt', '模型'], false],
    ['模型GPT', ['模型', 'gpt'], false],
    ['北京 linux', ['北京', 'linux'], true],
    ['한국', ['한국'], false],
    ['naïve', ['naive'], true],
    ['!!!', [], false],
  ])('reads %j', (text, words, isLastGrowing) => {
    expect(readQueryWords(text, 100)).toEqual({ words, isLastGrowing })
  })

  it('never takes more than the limit, the first', () => {
    expect(readQueryWords('a 北京大学 b', 3)).toEqual({ words: ['a', '北京', '京大'], isLastGrowing: false })
    fc.assert(
      fc.property(anyText, fc.nat({ max: 6 }), (text, limit) => {
        expect(readQueryWords(text, limit).words).toEqual(queryWords(text).slice(0, limit))
      }),
    )
  })

  it('asks only for words that a text with the same run in it holds', () => {
    const run = fc
      .array(fc.constantFrom('a', 'é', 'Z', 'foo', '9', '北', '京', 'が', 'ー', '한', 'ท', 'ี', '𠮷', '𝓍', 'ß', 'x'.repeat(30)), {
        minLength: 1,
        maxLength: 8,
      })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(
        run,
        fc.constantFrom('', 'before ', '(', 'x-', '北 '),
        fc.constantFrom('', ' after', '.', '-y', ' 京'),
        (text, before, after) => {
          const held = new Set(wordsOf(before + text + after))
          for (const word of queryWords(text)) expect(held).toContain(word)
        },
      ),
    )
  })

  it('asks of any text for nothing the text does not hold', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        // A mark or a private character beside a signed letter is left to the reported fault below.
        const plain = text.replaceAll(/(?<=[+#])[\p{M}\p{Co}]+|\p{Co}/gu, '')
        const held = new Set(wordsOf(plain))
        for (const word of queryWords(plain)) expect(held).toContain(word)
      }),
    )
  })

  it.each(['c#\ufe0f', 'c#\uE000', '\uE000c#'])('asks for the signed letter of %j as the text holds it', (text) => {
    expect(wordsOf(text)).toEqual(expect.arrayContaining([...queryWords(text)]))
  })

  it('keeps characters that have no neighbour to pair with', () => {
    expect(['A股', '第3章', '5月'].map(queryWords)).toEqual([
      ['a', '股'],
      ['第', '3', '章'],
      ['5', '月'],
    ])
  })
})
