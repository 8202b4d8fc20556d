/** Name of the server in clients' configurations, as in docs/connect.md. */
const SERVER = 'commonplace'
const KEY_HEADER = 'PROMPTS_API_KEY'

/** A client that takes an MCP server from a link. */
export interface InstallLink {
  readonly client: 'Cursor' | 'VS Code'
  readonly href: string
}

/**
 * Links that add the service to a client (cursor.com/docs/mcp/install-links, code.visualstudio.com/api/extension-guides/ai/mcp).
 * @param endpoint address of MCP
 * @param key null: public items only
 */
export function linkInstalls(endpoint: string, key: string | null): readonly InstallLink[] {
  const server = { url: endpoint, ...(key === null ? {} : { headers: { [KEY_HEADER]: key } }) }
  const config = Buffer.from(JSON.stringify(server)).toString('base64')
  const withName = JSON.stringify({ name: SERVER, type: 'http', ...server })
  return [
    { client: 'Cursor', href: `cursor://anysphere.cursor-deeplink/mcp/install?name=${SERVER}&config=${encodeURIComponent(config)}` },
    { client: 'VS Code', href: `vscode:mcp/install?${encodeURIComponent(withName)}` },
  ]
}

/** The command that adds the service to Claude Code, for a POSIX shell. */
export function claudeCommand(endpoint: string, key: string | null): string {
  const header = key === null ? '' : ` --header "${KEY_HEADER}: ${key}"`
  return `claude mcp add --transport http ${SERVER} ${endpoint}${header}`
}
