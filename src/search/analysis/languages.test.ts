import { expect, it } from 'vitest'
import { BASE, makeLibrary } from '../../../test/support/indexed-library.ts'
import { STRANGER } from '../index/item-table.ts'

it('tells the languages of the texts that a reader finds, most texts first, and of no others', () => {
  const texts = [
    ...Array.from({ length: 6 }, (_, n) => `Act as the editor and work with text ${n}.`),
    ...Array.from({ length: 4 }, (_, n) => `Kullanıcı için bir metin ve özet yaz ${n}.`),
    ...Array.from({ length: 3 }, (_, n) => `请总结这些文章的要点,让我们看懂 ${n}。`),
    'Schreibe nicht mehr als eine Seite und fasse zusammen.',
  ]
  const library = makeLibrary()
  library.put(texts.map((content, seq) => ({ ...BASE, seq: seq + 1, content })))
  library.put(
    Array.from({ length: 9 }, (_, n) => ({
      ...BASE,
      seq: 100 + n,
      visibility: 'private' as const,
      content: 'Vous lisez les notes dans le texte.',
    })),
  )
  expect(library.index.findLanguages(STRANGER).map(({ code }) => code)).toEqual(['en', 'tr', 'zh'])
  expect(library.index.findLanguages(STRANGER)[0]?.share).toBeCloseTo(6 / 14)
})
