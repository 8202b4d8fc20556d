import { expect, it } from 'vitest'
import { createSealer } from '../../auth/sealer.ts'
import { createSessionTokens } from './session-tokens.ts'

const sealer = createSealer('ab'.repeat(32))
let now = 0
const tokens = createSessionTokens(sealer, () => now)
const initialize = (capabilities: object, clientInfo: object = { name: 'test', version: '1' }) => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities, clientInfo },
})
const DECLARED = { elicitation: { form: { x: 1 } }, sampling: { tools: true }, roots: { listChanged: true }, other: {} }
const seal = (owner: string, capabilities: object = DECLARED) => tokens.seal(initialize(capabilities), owner) ?? ''

it('keep what the client declared, for their owner and for a day', () => {
  now = 0
  const token = seal('user u key k')
  expect(tokens.open(token, 'user u key k')).toEqual({
    id: expect.any(String),
    owner: expect.any(String),
    endsAt: 24 * 3_600_000,
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: { form: {} }, sampling: {} },
    clientInfo: { name: 'test', version: '1' },
  })
  for (const owner of ['anonymous', 'user u key l', 'user u key k within t']) expect(tokens.open(token, owner)).toBeNull()
  now = 24 * 3_600_000
  expect(tokens.open(token, 'user u key k')).toBeNull()
})

it('belong to a program of a person, whichever key it has now', () => {
  now = 0
  const token = seal('user u key k program p')
  expect(tokens.open(token, 'user u key l program p')).not.toBeNull()
  expect(tokens.open(token, 'user u key k program q')).toBeNull()
})

it('are refused when they are made up, sealed for something else, or longer than a token gets', () => {
  for (const token of ['', 'made-up', `${seal('anonymous')}A`, sealer.seal('other', '{}'), 'A'.repeat(5000)])
    expect(tokens.open(token, 'anonymous')).toBeNull()
})

it('are refused when another version sealed other claims', () => {
  now = 0
  for (const claims of ['{}', 'null', JSON.stringify({ id: 's', owner: 'anonymous', endsAt: 1 })])
    expect(tokens.open(sealer.seal('mcp session', claims), 'anonymous')).toBeNull()
})

it('stay within a kibibyte, or there is none', () => {
  const long = { name: 'n'.repeat(10_000), version: 'v'.repeat(10_000) }
  expect(tokens.seal(initialize({ elicitation: {} }, long), 'anonymous')?.length).toBeLessThanOrEqual(1024)
  // Each of these characters takes six of JSON.
  const escaped = { name: '\u0001'.repeat(64), version: '\u0001'.repeat(64) }
  expect(tokens.seal(initialize({ elicitation: {} }, escaped), 'anonymous')).toBeNull()
})
