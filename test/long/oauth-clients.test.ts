import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installClients } from '../../scripts/setup-tools.ts'
import { signUpInBrowser, useBrowser } from '../support/browser.ts'
import { proveSignIn } from '../support/consent.ts'
import { findTerminalObstacle, REGISTERING } from '../support/signing-clients.ts'
import { startToolCallingModel, type ToolCallingModel } from '../support/tool-calling-model.ts'

/** Real programs register themselves at a running service, and sign in by a browser. Those with metadata documents are in client-documents.test.ts. */

const bench = useBrowser({ env: { OAUTH_CLIENT_DOCUMENTS: 'false' } })
let model: ToolCallingModel
beforeAll(async () => {
  installClients()
  model = await startToolCallingModel()
  // Its context is closed with those of the first test.
  await signUpInBrowser(await bench.newPage(), 'ada')
}, 600_000)
afterAll(() => model.close())

const obstacle = findTerminalObstacle()
if (obstacle !== null) process.stderr.write(`\nSKIPPED: Claude Code does not sign in, because ${obstacle}.\n`)

describe('a program that registers itself', () => {
  for (const client of REGISTERING) {
    it.skipIf(client.needsTerminal === true && obstacle !== null)(
      `signs in, saves, and is refused once it is disconnected: ${client.name}`,
      async () => {
        const said = await proveSignIn(bench, 'ada', client, model.url)
        expect(said).toMatch(/^Let .+ use this library\?/)
        expect(said).toContain('It registered itself. Its name is its own choice, and nobody has checked it.')
        expect(said).toMatch(/Afterwards you go back to http:\/\/(?:localhost|127\.0\.0\.1):\d+\./)
      },
      120_000,
    )
  }
})
