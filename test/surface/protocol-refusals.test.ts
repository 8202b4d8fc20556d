import { describe, expect, it } from 'vitest'
import { readJson, useTestApp } from '../support/test-app.ts'

const test = useTestApp()

const post = async (body: string, headers: Record<string, string> = {}) => {
  const response = await test.fetch('/api/mcp', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
  return { status: response.status, body: await readJson(response) }
}

describe('a message that is none', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}', 'params must be an object.', 1],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', 'params must be an object.', 1],
    ['{"jsonrpc":"2.0","id":1}', 'method is required.', 1],
    ['{"jsonrpc":"2.0","id":1,"method":5}', 'method must be a string.', 1],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', 'id must be a string or a number.', null],
    ['{"id":1,"method":"ping"}', 'jsonrpc must be "2.0".', 1],
    ['"ping"', 'it must be an object.', null],
  ])('%s is refused for the member at fault, under its id', async (body, fault, id) => {
    const { status, body: answer } = await post(body)
    expect([status, answer.id, answer.error.code, answer.error.data.code]).toEqual([400, id, -32600, 'invalid_input'])
    expect(answer.error.message).toContain(fault)
    const { body: batch } = await post(`[${body}]`)
    expect(batch[0].error.message).toContain(fault)
  })

  it('is not one with a member more', async () => {
    expect((await post('{"jsonrpc":"2.0","id":1,"method":"ping","foo":1}')).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  })
})

describe('what else is refused', () => {
  it('names the versions that are served', async () => {
    const { status, body } = await post('{"jsonrpc":"2.0","id":7,"method":"ping"}', { 'mcp-protocol-version': '1999-01-01' })
    expect([status, body.id]).toEqual([400, 7])
    expect(body.error.message).toBe(
      'MCP-Protocol-Version "1999-01-01" is not supported. Supported: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28.',
    )
  })

  it.each([
    ['{"method":"nonsense"}', -32601, 'not_found', /nonsense/],
    ['{"method":"tools/call","params":{}}', -32602, 'invalid_input', /^params\.name is required\.$/],
    ['{"method":"tools/call","params":{"name":5}}', -32602, 'invalid_input', /^params\.name must be a string\.$/],
    [
      '{"method":"prompts/get","params":{"name":"x","arguments":{"a":1}}}',
      -32602,
      'invalid_input',
      /^params\.arguments\.a must be a string\.$/,
    ],
    ['{"method":"initialize"}', -32602, 'invalid_input', /^params is required\.$/],
    ['{"method":"resources/read","params":{"uri":"skill://nobody/none/SKILL.md"}}', expect.any(Number), expect.any(String), /./],
  ])('%s says why, with a code and no words of a schema library', async (message, code, name, sentence) => {
    const { status, body } = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, ...JSON.parse(message) }))
    expect([status, body.error.code, body.error.data.code]).toEqual([200, code, name])
    expect(body.error.message).toMatch(sentence)
    expect(body.error.message).not.toMatch(/Invalid input|expected \w+, received|Unrecognized/)
  })
})
