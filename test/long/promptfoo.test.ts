import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readResults } from '../../src/evals/results/read-results.ts'
import { PROMPTFOO_CASES } from '../support/promptfoo-cases.ts'

/** The real promptfoo, without a network and with answers of our own: its verdicts are those that other tests compare with. */

const VERSION = '0.123.1'
const LIBSQL = '0.5.29'
const KEPT = new URL('../fixtures/promptfoo-verdicts.json', import.meta.url)

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-promptfoo-'))
  writeFileSync(join(folder, 'package.json'), '{"private": true}')
  const binding = `@libsql/${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}@${LIBSQL}`
  const flags = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', ...flags, `promptfoo@${VERSION}`, binding], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}, 600_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('gives the verdicts that are kept', { timeout: 300_000 }, () => {
  const provider = (body: string) => `export default class { id() { return 'own' } async callApi(prompt) { ${body} } }\n`
  writeFileSync(join(folder, 'model.mjs'), provider("return { output: prompt.split('\\n').at(-1), cost: 0.0001 }"))
  const verdict =
    'const pass = /<Output>[^<]*good/.test(prompt); return { output: JSON.stringify({ pass, score: Number(pass), reason: "Because." }) }'
  writeFileSync(join(folder, 'judge.mjs'), provider(verdict))
  const config = { ...PROMPTFOO_CASES, providers: ['file://model.mjs'], defaultTest: { options: { provider: 'file://judge.mjs' } } }
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
  const env = { ...process.env, PROMPTFOO_DISABLE_TELEMETRY: '1', PROMPTFOO_DISABLE_UPDATE: '1', PROMPTFOO_CONFIG_DIR: folder }
  const run = () =>
    execFileSync(
      process.execPath,
      ['node_modules/promptfoo/dist/src/main.js', 'eval', '--no-cache', '-c', 'config.json', '-o', 'out.json'],
      {
        cwd: folder,
        env,
        stdio: 'ignore',
      },
    )
  // It ends with 100 when a case fails.
  expect(run).toThrow(expect.objectContaining({ status: 100 }))
  const { results, runner } = readResults(readFileSync(join(folder, 'out.json')), 'out.json')
  const verdicts = Object.fromEntries(results.map((one) => [one.case, one.passed]))
  expect({ runner, verdicts }).toEqual(JSON.parse(readFileSync(KEPT, 'utf8')))
})
