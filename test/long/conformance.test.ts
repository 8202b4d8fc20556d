import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { findTool } from '../../scripts/setup-tools.ts'
import { endProcess, untilPrinted } from '../support/children.ts'
import { makeFolder } from '../support/folders.ts'
import { run } from '../support/processes.ts'

/** The official MCP conformance suite against the real server: what each revision of the protocol requires, and no excuses. */

const SUITE = findTool('@modelcontextprotocol/conformance/dist/index.js')
const REQUIREMENTS = findTool('@modelcontextprotocol/conformance/requirements')
const SERVER = fileURLToPath(new URL('../support/conformance-server.ts', import.meta.url))
const JSX = new URL('../../scripts/jsx.ts', import.meta.url).href

const results = makeFolder()
let server: ChildProcess
let url = ''

beforeAll(async () => {
  server = spawn(process.execPath, ['--import', JSX, SERVER], { stdio: ['ignore', 'pipe', 'inherit'] })
  url = (await untilPrinted(server, /\n/)).split('\n')[0] ?? ''
})
afterAll(() => endProcess(server))

/** The server scenarios a revision requires, as the suite's own list has them. */
function requiredScenarios(revision: string): string[] {
  const list = parse(readFileSync(join(REQUIREMENTS, `${revision}.yaml`), 'utf8'))
  return z.object({ server: z.array(z.string()) }).parse(list).server
}

const checks = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }))

type Check = z.infer<typeof checks>[number]

/** Every check of a scenario, from the results the suite wrote; null when there are none. */
function readChecks(folder: string, scenario: string): Check[] | null {
  const started = /-\d{4}-\d\d-\d\dT[\d-]+Z$/
  const name = readdirSync(folder).find((entry) => entry.replace(started, '') === `server-${scenario}`)
  return name === undefined ? null : checks.parse(JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')))
}

const describeCheck = (scenario: string, check: Check) => `${scenario}, ${check.id}: ${check.errorMessage ?? 'no reason given'}`

/** What went wrong in a scenario. */
function explain(folder: string, scenario: string): string {
  const found = readChecks(folder, scenario)
  if (!found) return `${scenario}: no results`
  return found
    .filter((check) => check.status === 'FAILURE')
    .map((check) => describeCheck(scenario, check))
    .join('\n')
}

it.each(['2025-11-25', '2026-07-28'])(
  'conforms to %s',
  async (revision) => {
    const folder = join(results, revision)
    const command = [SUITE, 'server', '--url', url, '--requirements', revision, '--output-dir', folder]
    const { code, stdout, stderr } = await run(process.execPath, command, { timeoutMs: 170_000 })
    const lines = stdout.slice(stdout.indexOf('=== SUMMARY ===')).matchAll(/^(✓|✗) (\S+): (\d+) passed, (\d+) failed$/gm)
    const summary = new Map(
      [...lines].map(([, , scenario, passed, failed]) => [scenario, { passed: Number(passed), failed: Number(failed) }]),
    )
    const required = requiredScenarios(revision)
    const wrong = required.filter((scenario) => {
      const result = summary.get(scenario)
      return !result || result.passed === 0 || result.failed > 0
    })
    expect(required.length).toBeGreaterThan(20)
    expect(wrong, wrong.map((scenario) => explain(folder, scenario)).join('\n')).toEqual([])
    expect(code, stderr).toBe(0)
  },
  180_000,
)

/** Checks of the skills extension that have no object in a revision: lists carry caching attributes from 2026-07-28 on. */
const NOT_IN: Record<string, readonly string[]> = {
  '2025-11-25': ['sep-2640-skills-list-cache-attributes', 'sep-2640-skills-get-cache-attributes'],
  '2026-07-28': [],
}

it.each(Object.entries(NOT_IN))(
  'serves skills as SEP-2640 says, in %s',
  async (revision, notThere) => {
    const listed = await run(process.execPath, [SUITE, 'list', '--server'])
    const scenarios = [...listed.stdout.matchAll(/^ {2}- (sep-2640-\S+)/gm)].map(([, scenario = '']) => scenario)
    expect(scenarios.length).toBeGreaterThanOrEqual(3)
    const folder = join(results, `skills-${revision}`)
    for (const scenario of scenarios) {
      const which = ['--scenario', scenario, '--spec-version', revision, '--force']
      const { code } = await run(process.execPath, [SUITE, 'server', '--url', url, ...which, '--output-dir', folder])
      const found = readChecks(folder, scenario) ?? []
      // A warning counts as a fault, and so does a check that was skipped though there is something to check.
      const wrong = found.filter((check) => check.status !== 'SUCCESS' && check.status !== 'INFO' && !notThere.includes(check.id))
      expect(wrong.map((check) => `${check.status} ${describeCheck(scenario, check)}`)).toEqual([])
      expect([scenario, code, found.length > 0]).toEqual([scenario, 0, true])
    }
  },
  60_000,
)
