import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  anyQuery,
  asViewer,
  libraryOf,
  makeLibrary,
  OTHERS_WORDS,
  POOL,
  SORTS,
  type Written,
  written,
} from '../../../test/support/indexed-library.ts'
import { MEMBERS, PUBLIC, type Viewer } from './item-table.ts'

const TEAM = 5
const AUDIENCES = [PUBLIC, MEMBERS]
const anyAudience = fc.constantFrom(PUBLIC, MEMBERS, undefined)

const itemsOf = (words: readonly string[], owner: fc.Arbitrary<number>, first: number) =>
  fc
    .array(fc.tuple(written(words, fc.constant('private'), owner), anyAudience), { minLength: 1, maxLength: 12 })
    .map((items): Written[] => items.map(([item, audience], place) => ({ ...item, audience, seq: first + place })))
const inTeam = itemsOf(POOL, fc.constant(TEAM), 1)
const outside = itemsOf([...POOL, ...OTHERS_WORDS], fc.integer({ min: 1, max: 4 }), 100)
const questions = fc.array(fc.oneof(anyQuery, fc.constantFrom('zep', 'mosai', 'zepelin ', 'velve')), { minLength: 1, maxLength: 4 })

/** What somebody who is in the team, and owns what owner 1 has, finds with a narrowed key. */
function answers({ find, index }: ReturnType<typeof makeLibrary>, queries: readonly string[], within: Viewer['within']) {
  const viewer = asViewer([1, TEAM], AUDIENCES, within)
  return {
    searches: queries.map((query) =>
      SORTS.map((sort) => {
        const found = find(query, { sort, viewer: [1, TEAM], audiences: AUDIENCES, within })
        return { ...found, corrections: [...found.corrections] }
      }),
    ),
    tags: index.countTags(viewer),
    categories: [...index.countCategories('prompt', viewer)].sort(([a], [b]) => a - b),
  }
}

/** The same without order and scores, in which statistics of public items may show. */
const asSets = ({ searches, ...counts }: ReturnType<typeof answers>) => ({
  ...counts,
  searches: searches.map((sorts) => sorts.map(({ seqs, total, corrections }) => ({ seqs: seqs.toSorted(), total, corrections }))),
})

describe('a narrowed viewer', () => {
  it('finds, corrects, completes and counts as if nothing else were in the library', () => {
    fc.assert(
      fc.property(inTeam, outside, questions, (own, others, queries) => {
        const alone = makeLibrary()
        alone.put(own)
        const mixed = makeLibrary()
        mixed.put(others)
        mixed.put(own)
        const expected = asSets(answers(alone, queries, undefined))
        expect(asSets(answers(mixed, queries, { owner: TEAM }))).toEqual(expected)
        expect(asSets(answers(mixed, queries, { items: new Set(own.map(({ seq }) => seq)) }))).toEqual(expected)
      }),
    )
  })

  it('is told the same, to the score, whatever others keep for themselves or for members', () => {
    fc.assert(
      fc.property(inTeam, outside, questions, (own, others, queries) => {
        const open = others.filter(({ audience }) => audience === PUBLIC)
        const [mixed, without] = [makeLibrary(), makeLibrary()]
        mixed.put([...others, ...own])
        without.put([...open, ...own])
        expect(answers(mixed, queries, { owner: TEAM })).toEqual(answers(without, queries, { owner: TEAM }))
      }),
    )
  })

  it('asks for each item a few times, however many words a query may mean', () => {
    const letters = [...'abcdefghijklmnopqrst']
    const { find } = libraryOf(letters.map((letter) => ({ content: letters.map((other) => `th${letter}${other}`).join(' '), owner: TEAM })))
    const items = new Set(letters.map((_, place) => place + 1))
    let asked = 0
    const counting = { size: items.size, has: (seq: number) => ++asked > 0 && items.has(seq) }
    expect(find('th', { viewer: [TEAM], within: { items: counting } }).total).toBeGreaterThan(0)
    expect(asked).toBeLessThan(5 * items.size)
  })

  it('gets no related items from elsewhere', () => {
    const { index } = libraryOf([
      { content: 'walrus tundra', owner: TEAM },
      { content: 'walrus tundra', owner: TEAM },
      { content: 'walrus tundra', owner: 1 },
    ])
    const near = (within?: Viewer['within']) => index.shareWords('prompt', 1, [0, 1], asViewer([1, TEAM], AUDIENCES, within), 5)
    expect([near().toSorted(), near({ owner: TEAM }), near({ items: new Set([1, 3]) })]).toEqual([[2, 3], [2], [3]])
  })
})
