import { expect, it } from 'vitest'
import { missingHeapFlags } from './heap-flags.ts'

const BOTH = ['--max-semi-space-size=4', '--heap-growing-percent=20']

it('leaves what was given, in whatever way', () => {
  expect(missingHeapFlags([], '')).toEqual(BOTH)
  expect(missingHeapFlags(BOTH, '')).toEqual([])
  expect(missingHeapFlags(['--import', './a.ts', '--max_semi_space_size=16'], '')).toEqual(['--heap-growing-percent=20'])
  expect(missingHeapFlags([], '--enable-source-maps --max-semi-space-size=16')).toEqual(['--heap-growing-percent=20'])
  expect(missingHeapFlags(['--max-old-space-size=256'], '')).toEqual(BOTH)
})
