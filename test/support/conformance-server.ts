import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { type App, openApp } from '../../src/app.ts'
import { toAppSettings } from '../../src/cli/operator.ts'
import { defaultBaseUrl, findFreePort } from '../../src/cli/serve.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import type { Extras } from '../../src/mcp/dispatcher.ts'
import { startServer } from '../../src/server/start.ts'
import { importSkills } from '../../src/transfer/import-entries.ts'
import { conformanceExtras } from './conformance-fixtures.ts'

/**
 * The real server on a library of its own that has the starter skills, with the fixtures of the conformance suite beside its tools.
 * Prints the address of its MCP endpoint and runs until SIGTERM or SIGINT.
 */

const HOST = '127.0.0.1'
const SKILLS = fileURLToPath(new URL('../../starter/skills', import.meta.url))

/** Saves a public prompt as a user would, so that clients that listen have something to hear of. */
function promptChange(app: App): NonNullable<Extras['tools']>[number] {
  const save = app.operations.find((operation) => operation.name === 'save_prompt')
  if (!save) throw new Error('There is no save_prompt')
  return {
    tool: { name: 'test_trigger_prompt_change', description: 'Changes the prompts.', inputSchema: { type: 'object', properties: {} } },
    async call() {
      const name = 'conformance'
      const { id } =
        (await app.store.people.findUser(name)) ?? (await app.store.people.createUser({ username: name, defaultVisibility: 'public' }))
      await save.call(app.contextFor({ kind: 'user', userId: id, username: name, scopes: new Set(['read', 'write']) }, 'rest'), {
        title: 'Something new',
        description: 'Saved while clients listen.',
        content: 'Say hello.',
      })
      return { content: [{ type: 'text', text: 'A prompt was saved.' }] }
    },
  }
}

const folder = mkdtempSync(join(tmpdir(), 'commonplace-conformance-'))
const port = await findFreePort(HOST)
const address = defaultBaseUrl(HOST, port)
const settings = loadConfig({ HOST, PORT: String(port), LOG_LEVEL: 'warn', RATE_LIMITS: 'off' })
const app = await openApp(toAppSettings({ ...settings, DATABASE_URL: `sqlite:${join(folder, 'library.db')}` }, address))
await importSkills(app.store, SKILLS, { owner: 'fixtures', visibility: 'public' })
const extras = { ...conformanceExtras, tools: [...(conformanceExtras.tools ?? []), promptChange(app)] }
const server = await startServer({ host: HOST, port }, pino({ level: settings.LOG_LEVEL }, pino.destination(2)))
server.open(app, settings, { extras })
process.stdout.write(`${address}/api/mcp\n`)

const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop())
await stopped
await server.close()
await app.close()
rmSync(folder, { recursive: true, force: true })
