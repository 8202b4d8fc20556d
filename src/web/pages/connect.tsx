import { Layout } from '../layout.tsx'
import type { PageRequest } from '../request.ts'

interface Client {
  readonly name: string
  readonly how: string
  readonly code: (url: string) => string
}

const json = (value: unknown) => JSON.stringify(value, null, 2)
const KEY = 'cpb_…'

/** What each client wants to be told (its own documentation, November 2026). */
const CLIENTS: readonly Client[] = [
  {
    name: 'Claude Code',
    how: 'Run once. Prompts are then slash commands.',
    code: (url) => `claude mcp add --transport http commonplace ${url} --header "X-API-Key: ${KEY}"`,
  },
  {
    name: 'Claude Desktop',
    how: 'Settings, Developer, Edit Config.',
    code: (url) =>
      json({ mcpServers: { commonplace: { command: 'npx', args: ['-y', 'mcp-remote', url, '--header', `X-API-Key:${KEY}`] } } }),
  },
  {
    name: 'Cursor',
    how: 'In .cursor/mcp.json of a project, or ~/.cursor/mcp.json.',
    code: (url) => json({ mcpServers: { commonplace: { url, headers: { 'X-API-Key': KEY } } } }),
  },
  {
    name: 'VS Code',
    how: 'In .vscode/mcp.json of a project.',
    code: (url) => json({ servers: { commonplace: { type: 'http', url, headers: { 'X-API-Key': KEY } } } }),
  },
  {
    name: 'Windsurf',
    how: 'In ~/.codeium/windsurf/mcp_config.json.',
    code: (url) => json({ mcpServers: { commonplace: { serverUrl: url, headers: { 'X-API-Key': KEY } } } }),
  },
  {
    name: 'Codex',
    how: 'In ~/.codex/config.toml.',
    code: (url) => `[mcp_servers.commonplace]\nurl = "${url}"\nhttp_headers = { "X-API-Key" = "${KEY}" }`,
  },
  {
    name: 'Gemini CLI',
    how: 'In ~/.gemini/settings.json.',
    code: (url) => json({ mcpServers: { commonplace: { httpUrl: url, headers: { 'X-API-Key': KEY } } } }),
  },
  {
    name: 'Anything else',
    how: 'Streamable HTTP at this address; plain JSON-RPC by POST works, too.',
    code: (url) =>
      `curl ${url} -H 'Content-Type: application/json' \\\n  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_prompts","arguments":{"query":"code review"}}}'`,
  },
]

/** How each client is connected, with the address of this service. */
export async function showConnect({ site }: PageRequest) {
  const { words } = site
  const url = `${site.baseUrl}/api/mcp`
  return (
    <Layout site={site} title={words.connectTitle} description={words.connectLead} path="/docs/connect" current="connect">
      <h1>{words.connectTitle}</h1>
      <p class="lead">{words.connectLead}</p>
      {CLIENTS.map(({ name, how, code }) => (
        <section class="prose" data-prompt>
          <h2>{name}</h2>
          <p>{how}</p>
          <pre data-text tabindex={0}>
            {code(url)}
          </pre>
          <button class="button" type="button" data-copy={words.copied} hidden>
            {words.copy}
          </button>
        </section>
      ))}
    </Layout>
  )
}
