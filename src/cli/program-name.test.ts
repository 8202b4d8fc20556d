import { expect, it } from 'vitest'
import { nameProgram } from './program-name.ts'

const START = { node: 'node', program: '/opt/commonplace/dist/cli/main.js', folder: '/opt/commonplace', npmScript: null, launcher: null }

it.each([
  ['node dist/cli/main.js', START],
  ['node /opt/commonplace/dist/cli/main.js', { ...START, folder: '/home/ada' }],
  ['node_modules/node/bin/node dist/cli/main.js', { ...START, node: 'node_modules/node/bin/node' }],
  ["node '/opt/common place/it'\\''s/main.js'", { ...START, program: "/opt/common place/it's/main.js" }],
  ['npm run -s commonplace --', { ...START, npmScript: 'start' }],
  ['npm run -s commonplace --', { ...START, program: '/opt/commonplace/scripts/run.ts', npmScript: 'commonplace' }],
  ['node dist/cli/main.js', { ...START, npmScript: 'test' }],
  ['commonplace', { ...START, program: '/usr/local/bin/commonplace' }],
  ['commonplace', { ...START, program: '/home/ada/node_modules/.bin/commonplace', npmScript: 'npx' }],
  ['/opt/commonplace/bin/commonplace', { ...START, launcher: '/opt/commonplace/bin/commonplace' }],
  ["'/srv/our library/commonplace'", { ...START, launcher: '/srv/our library/commonplace', npmScript: 'start' }],
])('is %s', (name, start) => {
  expect(nameProgram(start)).toBe(name)
})
