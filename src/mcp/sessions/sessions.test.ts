import { McpServer } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { createEventLogs, QUESTION_LIMITS } from './session-streams.ts'
import { createSessionServers } from './sessions.ts'

const SESSION = {
  id: 'a',
  owner: 'digest',
  endsAt: 1,
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}

it('never gives a key the server that another key of its program began', async () => {
  const servers = createSessionServers({
    buildServer: () => new McpServer({ name: 'test', version: '1' }),
    eventLogs: createEventLogs(),
    limits: { idleMs: 60_000, perQuota: 9, most: 9 },
    questionLimits: QUESTION_LIMITS,
  })
  const owners = ['user u key 1 program p', 'user u key 2 program p', 'user u key 1 program p']
  const binding = { invoke: async () => ({}), filter: {}, onInternalError() {} }
  const given = await Promise.all(owners.map((owner) => servers.acquire(SESSION, 'token', { owner, quota: 'q' }, binding)))
  expect(given.map(({ owner }) => owner)).toEqual(owners)
  expect(servers.running.size).toBe(1)
  await servers.close()
})
