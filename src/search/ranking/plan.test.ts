import { stemmer } from 'stemmer'
import { describe, expect, it } from 'vitest'
import { readQueryWords } from '../analysis/words.ts'
import { createVocabulary } from '../index/vocabulary.ts'
import { createEmbedder } from '../vectors/embedder.ts'
import { DIMS } from '../vectors/word-vectors.ts'
import { type IndexScope, planQuery } from './plan.ts'

/** What a caller sees: words with in how many items they stand, and in how many others'. */
interface Seen {
  readonly words: Readonly<Record<string, number>>
  /** Words of the library the caller sees in no item. */
  readonly hidden?: readonly string[]
  /** Words general English knows. */
  readonly english?: readonly string[]
  /** Neighbours in meaning, with their cosine. */
  readonly near?: Readonly<Record<string, readonly (readonly [string, number])[]>>
}

function makeSight({ words, hidden = [], english = [], near = {} }: Seen) {
  const vocabulary = createVocabulary()
  const counts = new Map<number, number>()
  // Others' words among one's own, as they come into a library.
  for (const [place, word] of [...hidden.slice(1), ...Object.keys(words), ...hidden.slice(0, 1)].entries()) {
    vocabulary.add(place + 1, word, stemmer(word))
    counts.set(place + 1, words[word] ?? 0)
  }
  const embedder = createEmbedder({
    size: english.length,
    wordOf: (row) => english[row] ?? '',
    find: (word) => english.indexOf(word),
    rankOf: (row) => row,
    vectorOf: (row) => Int8Array.from({ length: DIMS }, (_, i) => (i === row ? 100 : 1)),
  })
  const scope: IndexScope = {
    vocabulary,
    embedder,
    stem: stemmer,
    neighboursOf: (word) =>
      (near[word] ?? []).flatMap(([other, cosine]) => {
        const id = vocabulary.idOf(other)
        return id === undefined ? [] : [{ id, cosine }]
      }),
    countOf: (word) => counts.get(word) ?? 0,
  }
  return { scope, vocabulary }
}

/** A plan in words: for each word of the query what counts as it, and what comes near it, each with its weight. */
function plan(query: string, seen: Seen) {
  const { scope, vocabulary } = makeSight(seen)
  const { groups, corrections } = planQuery(readQueryWords(query, 24), scope)
  const read = (isWord: boolean) =>
    Object.fromEntries(
      groups.map(({ word, concepts }) => [
        word,
        concepts.filter((concept) => concept.isWord === isWord).map(({ words }) => words.map((id) => vocabulary.wordOf(id)).toSorted()),
      ]),
    )
  return {
    groups,
    held: read(true),
    near: read(false),
    corrections: Object.fromEntries(corrections),
    inLibrary: groups.filter((group) => group.isInLibrary).map((group) => group.word),
  }
}

describe('planQuery: which words', () => {
  const words = { write: 5, poem: 3, how: 9, the: 9, do: 9 }
  it.each<[string, readonly string[]]>([
    ['how do I write a poem ', ['write', 'poem']],
    ['poem poem write ', ['poem', 'write']],
    ['how do the ', ['how', 'do', 'the']],
    ['the ', ['the']],
    ['unheard of ', ['unheard']],
  ])('of %j', (query, expected) => {
    expect(plan(query, { words }).groups.map(({ word }) => word)).toEqual(expected)
  })

  it('plans nothing for no words', () => {
    expect(plan('!!!', { words })).toMatchObject({ groups: [], corrections: {} })
  })

  it('tells the words the library has', () => {
    expect(plan('write sonnets ', { words }).inLibrary).toEqual(['write'])
  })
})

describe('planQuery: forms', () => {
  it('takes the forms of a word for the word', () => {
    const words = { review: 3, reviews: 2, reviewing: 1, preview: 4 }
    for (const form of ['review', 'reviews', 'reviewed']) {
      expect(plan(`${form} `, { words }).held).toEqual({ [form]: [['review', 'reviewing', 'reviews']] })
    }
  })
})

describe('planQuery: the last word, growing', () => {
  const words = { prompt: 5, promptly: 1, prom: 2, promise: 2, linux: 3, pro: 9 }

  it('stands for longer words too, beside the word for less', () => {
    const growing = plan('linux prom', { words })
    expect(growing.held['prom']?.[0]).toEqual(['prom'])
    expect(growing.held['prom']?.slice(1).flat()).toContain('promise')
    expect(growing.held['linux']).toEqual([['linux']])
    const [itself, longer] = growing.groups.find(({ word }) => word === 'prom')?.concepts ?? []
    expect(longer?.weight).toBeLessThan(itself?.weight ?? 0)
  })

  it('stands for all longer words when it is none yet', () => {
    expect(plan('promp', { words }).held['promp']?.flat()).toEqual(expect.arrayContaining(['prompt', 'promptly']))
  })

  it('not when it is ended by a space, not the last, or one letter', () => {
    for (const query of ['linux prom ', 'prom linux']) expect(plan(query, { words }).held['prom'], query).toEqual([['prom']])
    expect(plan('p', { words: { prompt: 5, pro: 2 } }).held).toEqual({ p: [] })
  })

  it('stands for what the caller sees alone, and for a bounded number, the most common', () => {
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`zeb${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}q`, i + 1]),
    )
    const found = plan('zeb', { words: many, hidden: ['zebra', 'zebu'] }).held['zeb']?.flat() ?? []
    expect(found.length).toBe(30)
    expect(found.toSorted()).toEqual(
      Object.keys(many)
        .filter((word) => (many[word] ?? 0) > 70)
        .toSorted(),
    )
  })

  it('the same ones in whatever order words came into the library', () => {
    const names = Array.from({ length: 40 }, (_, i) => `zeb${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}q`)
    const forward = plan('zeb', { words: Object.fromEntries(names.map((name) => [name, 1])) })
    const backward = plan('zeb', { words: Object.fromEntries(names.toReversed().map((name) => [name, 1])) })
    expect(forward.held).toEqual(backward.held)
  })
})

describe('planQuery: words joined and parted', () => {
  it('finds `javascript` for `java script`, beside the words themselves, and `java` and `script` for `javascript`', () => {
    const { held } = plan('java script tutor ', { words: { javascript: 4, tutor: 2 } })
    expect(held).toMatchObject({ java: [['javascript']], script: [['javascript']], tutor: [['tutor']] })
    const words = { javascript: 4, java: 2, script: 3 }
    expect(plan('java script ', { words }).held).toEqual({ java: [['java'], ['javascript']], script: [['script'], ['javascript']] })
    expect(plan('javascript ', { words: { java: 4, script: 2 } }).held).toEqual({ javascript: [['java'], ['script']] })
  })

  it('parts a word where the rarer part is most common, never into short bits', () => {
    expect(plan('superuserdata ', { words: { superuser: 1, data: 9, super: 5, userdata: 4 } }).held['superuserdata']?.slice(0, 2)).toEqual([
      ['super'],
      ['userdata'],
    ])
    for (const query of ['tableto ', 'totable '])
      expect(Object.values(plan(query, { words: { table: 3, to: 5 } }).held).flat(2)).not.toContain('to')
    expect(plan('atable ', { words: { at: 3, able: 3, a: 3, table: 3 }, english: ['atable'] }).held['atable']?.flat() ?? []).not.toContain(
      'a',
    )
  })

  it('does not part a word the library has', () => {
    expect(plan('javascript ', { words: { java: 4, script: 2, javascript: 1 } }).held['javascript']?.[0]).toEqual(['javascript'])
    expect(plan('javascript ', { words: { java: 4, script: 2, javascript: 1 } }).held['javascript']?.flat()).not.toContain('java')
  })

  it('does not correct a word it found joined with its neighbour, or in two parts', () => {
    expect(plan('kuber netes ', { words: { kubernetes: 20, huber: 3 } }).corrections).toEqual({})
    expect(plan('promptlibrary ', { words: { prompt: 20, library: 20, promptlibraty: 1 } }).corrections).toEqual({})
  })
})

describe('planQuery: corrections', () => {
  const words = { python: 5, review: 9, reviews: 2, refactor: 1, naming: 3, kubernetes: 2, pan: 4, to: 4, 北平: 3 }
  it.each<[string, Record<string, string>]>([
    ['pyhton ', { pyhton: 'python' }],
    ['pythn code ', { pythn: 'python' }],
    ['Pyhton ', { pyhton: 'python' }],
    ['revew ', { revew: 'review' }],
    ['kuberntse ', { kuberntse: 'kubernetes' }],
    ['pyhton revew ', { pyhton: 'python', revew: 'review' }],
  ])('puts %j right', (query, expected) => {
    const { corrections, held } = plan(query, { words })
    expect(corrections).toEqual(expected)
    for (const [word, corrected] of Object.entries(expected)) expect(held[word]?.flat()).toContain(corrected)
  })

  it('leaves alone what is there in some form, far from all, short, a stop word, or has digits or no spaces', () => {
    const queries = ['python ', 'reviewed ', 'quixotry ', 'pyohtn ', 'pin t ', 'python3 ', 'with about ', '北京 ']
    for (const query of queries) expect(plan(query, { words }).corrections, query).toEqual({})
  })

  it('finds the word with its forms, for less than the word itself', () => {
    const { groups, held } = plan('revew ', { words })
    expect(held['revew']?.[0]).toEqual(['review', 'reviews'])
    expect(groups[0]?.concepts[0]?.weight).toBeLessThan(1)
  })

  it('prefers fewer edits, then the same first letter, then the more common, then the alphabet', () => {
    expect(plan('plannet ', { words: { planet: 1, planner: 9, plankton: 20 } }).corrections).toEqual({ plannet: 'planner' })
    expect(plan('crete ', { words: { grete: 50, crate: 2 } }).corrections).toEqual({ crete: 'crate' })
    expect(plan('crete ', { words: { crate: 2, crepe: 9 } }).corrections).toEqual({ crete: 'crepe' })
    expect(plan('crete ', { words: { crepe: 2, crate: 2 } }).corrections).toEqual({ crete: 'crate' })
  })

  it('takes none that is farther than the nearest, however common', () => {
    const { corrections, held } = plan('abcdefgh ', { words: { abcdefxy: 50, abcdefgx: 1 } })
    expect([corrections, held]).toEqual([{ abcdefgh: 'abcdefgx' }, { abcdefgh: [['abcdefgx']] }])
  })

  it('takes no word that general English knows for a slip, though it looks for what is near where the library has it not', () => {
    const english = ['ravine']
    expect(plan('ravine ', { words: { raving: 4 }, english })).toMatchObject({
      corrections: {},
      held: { ravine: [] },
      near: { ravine: [['raving']] },
    })
    expect(plan('ravine ', { words: { raving: 400, ravine: 1 }, english })).toMatchObject({
      corrections: {},
      held: { ravine: [['ravine']] },
    })
  })

  it('does not put right what may be the beginning of a word there is', () => {
    expect(plan('prin', { words: { principle: 5, pain: 3 } }).corrections).toEqual({})
    expect(plan('rollou', { words: { rollout: 5 } }).corrections).toEqual({})
  })

  it('puts right each word of a query, also one that begins or stems from something rarer', () => {
    expect(plan('recipie', { words: { recipe: 9, recipient: 3 } })).toMatchObject({ corrections: { recipie: 'recipe' } })
    expect(plan('recip', { words: { recipe: 9, recipient: 3, recap: 5 } }).corrections).toEqual({})
    expect(plan('desing ', { words: { design: 9, des: 30 } }).corrections).toEqual({ desing: 'design' })
    expect(plan('debuger ', { words: { debugger: 4, debug: 30 } }).corrections).toEqual({ debuger: 'debugger' })
    expect(plan('javscript debuger', { words: { javascript: 9, debugger: 4, debugers: 1, jav: 1, script: 3 } }).corrections).toEqual({
      javscript: 'javascript',
      debuger: 'debugger',
    })
  })

  it('puts right a word whose parts are forms of words by chance', () => {
    const words = { release: 2, rel: 1, as: 40, note: 5 }
    expect(plan('relase note ', { words })).toMatchObject({ corrections: { relase: 'release' }, held: { relase: [['release']] } })
    // The rarer part counts, however common the other one is.
    expect(plan('tablespon ', { words: { table: 40, spon: 1, tablespoon: 3 } }).corrections).toEqual({ tablespon: 'tablespoon' })
  })

  it('takes a word that hardly stands anywhere for a slip only of one far more common', () => {
    expect(plan('pyhton ', { words: { python: 40, pyhton: 2 } }).held['pyhton']).toEqual([['pyhton'], ['python']])
    expect(plan('pyhton ', { words: { python: 5, pyhton: 2 } })).toMatchObject({ held: { pyhton: [['pyhton']] }, corrections: {} })
    expect(plan('pyhton ', { words: { python: 400, pyhton: 3 } })).toMatchObject({ held: { pyhton: [['pyhton']] }, corrections: {} })
  })
})

describe('planQuery: meaning', () => {
  const near = {
    whale: [
      ['seal', 0.9],
      ['seals', 0.8],
      ['whales', 0.7],
      ['otter', 0.6],
    ],
  } as const

  it('widens a word to those near it, each family once, for less the farther they are, and not as the word', () => {
    const seen = plan('whale ', { words: { whale: 2, seal: 3, seals: 1, otter: 2, whales: 1 }, near })
    expect(seen.near).toEqual({ whale: [['seal', 'seals'], ['otter']] })
    const [first, second] = seen.groups[0]?.concepts.filter(({ isWord }) => !isWord) ?? []
    expect(first?.weight).toBeLessThan(1)
    expect(second?.weight).toBeLessThan(first?.weight ?? 0)
  })

  it('also a word the library does not have', () => {
    expect(plan('whale ', { words: { otter: 2 }, near, english: ['whale'] }).near).toEqual({ whale: [['otter']] })
  })

  it('as if words the caller does not see were not there', () => {
    const open = { words: { whale: 2, seal: 3 }, near }
    const [without, withHidden] = [plan('whale ', open), plan('whale ', { ...open, hidden: ['seals', 'otter', 'whales'] })]
    expect(withHidden.near).toEqual(without.near)
    const onlyForms = { words: { whale: 2, seals: 3 }, near }
    const weights = (seen: Seen) => plan('whale ', seen).groups.map(({ concepts }) => concepts.map(({ weight }) => weight))
    expect(weights({ ...onlyForms, hidden: ['seal'] })).toEqual(weights(onlyForms))
  })
})

describe('planQuery: what others keep for themselves', () => {
  const words = { review: 3, reviewing: 1, java: 2, javascript: 4, python: 2, promise: 2, prompt: 5, seal: 2 }
  const near = { walrus: [['seal', 0.8]] } as const
  it.each([
    'review',
    'pyhton ',
    'java script ',
    'scriptjava ',
    'prom',
    'walrus ',
    'reviews prom',
    'promp',
    'javas',
    'pythons ',
    'hidden',
    'secre',
  ])('has no part in the plan of %j', (query) => {
    const hidden = ['pyhton', 'reviews', 'script', 'scriptjava', 'prom', 'promp', 'walrus', 'prometheus', 'javas', 'hidden', 'secret']
    const [without, withHidden] = [plan(query, { words, near }), plan(query, { words, near, hidden })]
    expect({ ...withHidden, groups: withHidden.groups.map((group) => group.concepts.map(({ weight }) => weight)) }).toEqual({
      ...without,
      groups: without.groups.map((group) => group.concepts.map(({ weight }) => weight)),
    })
  })
})
