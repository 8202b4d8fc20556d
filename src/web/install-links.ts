/** Name of the server in clients' configurations, as in docs/connect.md. */
export const SERVER = 'commonplace'
/** The header that clients send a key in. */
export const KEY_HEADER = 'PROMPTS_API_KEY'

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

/**
 * The command that puts a skill where Claude Code and others look for skills of a person, for a POSIX shell with curl and unzip.
 * @param skill its slug is of letters a shell takes as they are; a private one needs a key, which the shell has in COMMONPLACE_KEY
 */
export function skillCommand(baseUrl: string, skill: { readonly id: string; readonly slug: string; readonly needsKey: boolean }): string {
  const key = skill.needsKey ? ' -H "X-API-Key: $COMMONPLACE_KEY"' : ''
  const zip = `${skill.slug}.zip`
  return `curl -fsS${key} '${baseUrl}/api/skills/${skill.id}/zip' -o ${zip} && unzip -q ${zip} -d ~/.claude/skills && rm ${zip}`
}

/** The command that runs a prompt in Claude Code, once that is connected. */
export function claudePromptCommand(slug: string): string {
  return `/mcp__${SERVER}__${slug}`
}

/** The command that adds the service to Claude Code, for a POSIX shell. */
export function claudeCommand(endpoint: string, key: string | null): string {
  const header = key === null ? '' : ` --header "${KEY_HEADER}: ${key}"`
  return `claude mcp add --transport http ${SERVER} ${endpoint}${header}`
}
