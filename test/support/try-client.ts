// Stands for the command line of an MCP client: connects as `claude mcp add` would tell it to, and fails when it is not answered.

import { parseArgs } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const options = {
  transport: { type: 'string' },
  header: { type: 'string', multiple: true },
  env: { type: 'string', multiple: true },
} as const
const [, , mcp, add, ...rest] = process.argv
if (mcp !== 'mcp' || add !== 'add') throw new Error('only mcp add is known')
const split = rest.indexOf('--')
const { values, positionals } = parseArgs({ args: split < 0 ? rest : rest.slice(0, split), options, allowPositionals: true })
const [command = '', ...args] = split < 0 ? [] : rest.slice(split + 1)
const [, url = ''] = positionals

const headers = Object.fromEntries((values.header ?? []).map((header) => header.split(/:\s*/, 2)))
const env = Object.fromEntries((values.env ?? []).map((pair) => pair.split(/=(.*)/s, 2)))
const client = new Client({ name: 'try-client', version: '1' })
await client.connect(
  values.transport === 'http'
    ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
    : new StdioClientTransport({ command, args, env }),
)
const { tools } = await client.listTools()
if (tools.length === 0) throw new Error('no tools')
await client.close()
