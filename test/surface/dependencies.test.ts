import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { MODEL_PACKAGE } from '../../scripts/make-encoder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
/** Development dependencies that the build turns into what runs. */
const BUILT_IN = [MODEL_PACKAGE, 'assemblyscript']
const { dependencies, devDependencies } = JSON.parse(read('package.json'))

it('docs/dependencies.md has a row with size, licence and reason for each dependency, and no other', () => {
  const rows = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)]
  expect(rows.map(([, name]) => name).toSorted()).toEqual([...Object.keys(dependencies), ...BUILT_IN].toSorted())
  for (const [, name = '', size, licence] of rows) {
    expect(size, name).toMatch(/^\d+\.\d MB/)
    expect(licence?.trim(), name).toBe(JSON.parse(read(`node_modules/${name}/package.json`)).license)
  }
})

it('npm run sbom writes what the service is made of, and nothing for development', () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-sbom-'))
  try {
    const file = join(folder, 'sbom.json')
    execFileSync('npm', ['run', '-s', 'sbom', '--', file], { cwd: root, encoding: 'utf8' })
    const { bomFormat, components } = JSON.parse(readFileSync(file, 'utf8'))
    const all: readonly { name: string; version: string }[] = components
    const installed = new Set(all.map(({ name, version }) => `${name}@${version}`))
    const names = new Set(all.map(({ name }) => name))
    expect(bomFormat).toBe('CycloneDX')
    for (const [name, version] of Object.entries(dependencies)) expect(installed).toContain(`${name}@${version}`)
    expect(installed).toContain(`${MODEL_PACKAGE}@${devDependencies[MODEL_PACKAGE]}`)
    for (const name of Object.keys(devDependencies))
      if (!(name in dependencies) && name !== MODEL_PACKAGE) expect(names).not.toContain(name)
    for (const { hashes, licenses, name } of components)
      expect([name, hashes?.length > 0, licenses?.length > 0]).toEqual([name, true, true])
    expect(JSON.stringify(components)).not.toContain('"distribution"')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
