import { describe, expect, it } from 'vitest'
import { correctQuery } from './corrected-query.ts'

const CORRECTIONS = new Map([
  ['pyhton', 'python'],
  ['resumee', 'resume'],
  ['привте', 'привет'],
])

describe('correctQuery', () => {
  it.each([
    ['pyhton code', 'python code'],
    ['Pyhton code', 'python code'],
    ['PYHTON', 'python'],
    ['  "pyhton",\tcode! ', '  "python",\tcode! '],
    ['pyhton and pyhton', 'python and python'],
    ['pyhton-script', 'python-script'],
    ['résumée', 'resume'],
    ['re\u0301sume\u0301e', 'resume'],
    ['Привте мир', 'привет мир'],
    ['pyhton 北京 😀', 'python 北京 😀'],
  ])('puts %j right', (query, expected) => {
    expect(correctQuery(query, CORRECTIONS)).toBe(expected)
  })

  it.each(['', 'python code', 'xpyhton', 'pyhtons', 'pyhton2', '!!!', '北京', 'Résumé'])('leaves %j alone', (query) => {
    expect(correctQuery(query, CORRECTIONS)).toBeNull()
  })

  it('has nothing to say without corrections', () => {
    expect(correctQuery('pyhton', new Map())).toBeNull()
  })

  it('puts a correction in as it is, whatever signs are in it', () => {
    expect(correctQuery('pyhton', new Map([['pyhton', '$& $1']]))).toBe('$& $1')
  })

  it('keeps what stands in the same run in another script', () => {
    expect(correctQuery('pyhton教程', CORRECTIONS)).toBe('python教程')
  })
})
