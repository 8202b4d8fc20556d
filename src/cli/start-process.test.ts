import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { missingHeapFlags, oldNodeFault } from './start-process.ts'

it('refuses every Node that package.json refuses', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(engines.node).toBe('>=24')
  for (const version of ['18.20.0', '20.20.2', '22.22.1', '23.11.0']) {
    expect(oldNodeFault(version, '/x/node_modules/node/bin/node')).toBe(
      `Commonplace needs Node 24 or newer; this is Node ${version}. Start it with /x/node_modules/node/bin/node (installed by npm ci).`,
    )
  }
  expect(oldNodeFault('20.20.2', null)).toBe('Commonplace needs Node 24 or newer; this is Node 20.20.2. Start it with a newer version.')
  for (const version of ['24.0.0', '25.1.0']) expect(oldNodeFault(version, '')).toBeNull()
})

const BOTH = ['--max-semi-space-size=4', '--heap-growing-percent=20']

it('leaves what was given, in whatever way', () => {
  expect(missingHeapFlags([], '')).toEqual(BOTH)
  expect(missingHeapFlags(BOTH, '')).toEqual([])
  expect(missingHeapFlags(['--import', './a.ts', '--max_semi_space_size=16'], '')).toEqual(['--heap-growing-percent=20'])
  expect(missingHeapFlags([], '--enable-source-maps --max-semi-space-size=16')).toEqual(['--heap-growing-percent=20'])
  expect(missingHeapFlags(['--max-old-space-size=256'], '')).toEqual(BOTH)
})
