import { marketplaceName } from '../domain/skills/channel-scope.ts'

/** Name of the server in clients' configurations, as in docs/connect.md. */
const SERVER = 'commonplace'
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

/** The placeholder for a key, here and in docs/connect.md. */
export const PLACEHOLDER_KEY = 'cpb_...'

/** A command for a shell, or a part of a file. */
export interface Sample {
  /** The files it belongs in, any of them; none for a command. */
  readonly files: readonly string[]
  readonly text: string
}

/** A client of MCP, and what connects it. A test compares the configurations with docs/connect.md. */
export interface ClientConfig {
  /** In addresses, and in `words.connecting.notes`. */
  readonly id: ClientId
  /** As its heading in docs/connect.md. */
  readonly name: string
  /** The commands and files that connect it. @param key null: public items only */
  write(endpoint: string, key: string | null): readonly Sample[]
  /** How it signs in: by a command for a shell or for itself, by itself when it connects, or not at all. */
  readonly signsIn: { readonly in: 'shell' | 'client'; readonly command: string } | 'by itself' | 'never'
}

export const CLIENT_IDS = ['claude-code', 'cursor', 'vs-code', 'claude-desktop', 'windsurf', 'codex', 'gemini-cli'] as const
export type ClientId = (typeof CLIENT_IDS)[number]

/** The lines of a JSON file with one server. */
function serverFile(address: readonly string[], key: string | null): string {
  const header = key === null ? [] : [`"headers": { "${KEY_HEADER}": ${JSON.stringify(key)} }`]
  const lines = [...address, ...header].map((line) => `      ${line}`).join(',\n')
  return `{\n  "mcpServers": {\n    "${SERVER}": {\n${lines}\n    }\n  }\n}`
}

/** VS Code asks for the key, so that it is in no file. */
function vsCodeFile(endpoint: string, key: string | null): string {
  const input = `{ "type": "promptString", "id": "${SERVER}-key", "description": "Commonplace API key", "password": true }`
  const inputs = key === null ? '' : `  "inputs": [\n    ${input}\n  ],\n`
  const header = key === null ? '' : `,\n      "headers": { "${KEY_HEADER}": "\${input:${SERVER}-key}" }`
  const server = `    "${SERVER}": {\n      "type": "http",\n      "url": ${JSON.stringify(endpoint)}${header}\n    }`
  return `{\n${inputs}  "servers": {\n${server}\n  }\n}`
}

/** Claude Desktop only starts programs. No space may follow the colon of the header. */
function claudeDesktopFile(endpoint: string, key: string | null): string {
  const header = key === null ? '' : `, "--header", "${KEY_HEADER}:\${KEY}"`
  const env = key === null ? '' : `,\n      "env": { "KEY": ${JSON.stringify(key)} }`
  const args = `["-y", "mcp-remote", ${JSON.stringify(endpoint)}${header}]`
  return `{\n  "mcpServers": {\n    "${SERVER}": {\n      "command": "npx",\n      "args": ${args}${env}\n    }\n  }\n}`
}

function codexFile(endpoint: string, key: string | null): string {
  const header = key === null ? '' : `\nhttp_headers = { "${KEY_HEADER}" = ${JSON.stringify(key)} }`
  return `[mcp_servers.${SERVER}]\nurl = ${JSON.stringify(endpoint)}${header}`
}

/** Every client with a tab, in the order of docs/connect.md. */
export const CLIENTS: readonly ClientConfig[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    signsIn: { in: 'shell', command: `claude mcp login ${SERVER}` },
    write: (url, key) => [
      { files: [], text: claudeCommand(url, key) },
      { files: ['.mcp.json'], text: serverFile(['"type": "http"', `"url": ${JSON.stringify(url)}`], key) },
    ],
  },
  {
    id: 'cursor',
    name: 'Cursor',
    signsIn: 'by itself',
    write: (url, key) => [{ files: ['.cursor/mcp.json', '~/.cursor/mcp.json'], text: serverFile([`"url": ${JSON.stringify(url)}`], key) }],
  },
  {
    id: 'vs-code',
    name: 'VS Code',
    signsIn: 'by itself',
    write: (url, key) => [{ files: ['.vscode/mcp.json'], text: vsCodeFile(url, key) }],
  },
  {
    id: 'claude-desktop',
    name: 'Claude Desktop',
    signsIn: 'by itself',
    write: (url, key) => [{ files: ['claude_desktop_config.json'], text: claudeDesktopFile(url, key) }],
  },
  {
    id: 'windsurf',
    name: 'Windsurf',
    signsIn: 'never',
    write: (url, key) => [
      { files: ['~/.codeium/windsurf/mcp_config.json'], text: serverFile([`"serverUrl": ${JSON.stringify(url)}`], key) },
    ],
  },
  {
    id: 'codex',
    name: 'Codex',
    signsIn: { in: 'shell', command: `codex mcp login ${SERVER}` },
    write: (url, key) => [{ files: ['~/.codex/config.toml'], text: codexFile(url, key) }],
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    signsIn: { in: 'client', command: `/mcp auth ${SERVER}` },
    write: (url, key) => [{ files: ['~/.gemini/settings.json'], text: serverFile([`"httpUrl": ${JSON.stringify(url)}`], key) }],
  },
]

/** The subject of an installation: every skill of a scope, or one skill. */
export interface Installed {
  /** Path of the scope, percent-encoded; empty for the whole library. */
  readonly scope: string
  /** One skill: its name in channels is null where they leave it out. */
  readonly skill?: { readonly id: string; readonly slug: string; readonly name: string | null }
  /** Whether it is read with a key alone. */
  readonly needsKey: boolean
}

/** A program that installs skills. A test compares its lines with docs/install.md. */
interface Agent {
  /** In addresses, in connect.css and in `words.reading.agentNotes`. */
  readonly id: AgentId
  readonly name: string
  /** The command to type; null where this cannot be installed so. */
  write(baseUrl: string, installed: Installed): readonly Sample[] | null
}

const AGENT_IDS = ['skills', 'claude-plugin', 'codex', 'copilot', 'gemini-cli', 'opencode', 'git', 'unzip'] as const
type AgentId = (typeof AGENT_IDS)[number]

/** Those that read the well-known index or the marketplace, which hold nothing private. */
const isShared = ({ skill, needsKey }: Installed) => !needsKey && (skill === undefined || skill.name !== null)

/** For what reads the Git remote. NAME stands for a skill where there are several. */
function fromGit(
  baseUrl: string,
  installed: Installed,
  write: (remote: { readonly url: string; readonly name: string; readonly plugin: string }) => readonly Sample[],
): readonly Sample[] | null {
  if (!isShared(installed)) return null
  const name = installed.skill?.name ?? 'NAME'
  const url = `${baseUrl}${installed.scope === '' ? '/library' : installed.scope}.git`
  return write({ url, name, plugin: `${name}@${marketplaceName(baseUrl, installed.scope)}` })
}

/** By the commands of an agent whose plugins come from a marketplace. */
const asPlugin =
  (command: string, install: string): Agent['write'] =>
  (baseUrl, installed) =>
    fromGit(baseUrl, installed, ({ url, plugin }) => [
      { files: [], text: `${command} marketplace add ${url}` },
      { files: [], text: `${command} ${install} ${plugin}` },
    ])

/** Every agent with a tab, the one that serves most first. */
export const AGENTS: readonly Agent[] = [
  {
    id: 'skills',
    name: 'npx skills',
    write: (baseUrl, installed) => (isShared(installed) ? [{ files: [], text: `npx skills add ${baseUrl}${installed.scope}` }] : null),
  },
  // Plugins of /marketplace.json are archives, which it takes from https and no loopback address.
  { id: 'claude-plugin', name: 'Claude Code', write: asPlugin('claude plugin', 'install') },
  { id: 'codex', name: 'Codex', write: asPlugin('codex plugin', 'add') },
  { id: 'copilot', name: 'Copilot CLI', write: asPlugin('copilot plugin', 'install') },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    write: (baseUrl, installed) =>
      fromGit(baseUrl, installed, ({ url, name }) => [
        { files: [], text: `gemini skills install ${url} --path plugins/${name}/skills/${name}` },
      ]),
  },
  {
    id: 'opencode',
    name: 'OpenCode',
    write: (baseUrl, installed) =>
      isShared(installed)
        ? [{ files: ['opencode.json'], text: `{ "skills": { "urls": ["${baseUrl}${installed.scope}/.well-known/skills/"] } }` }]
        : null,
  },
  {
    id: 'git',
    name: 'Git',
    write: (baseUrl, installed) => fromGit(baseUrl, installed, ({ url }) => [{ files: [], text: `git clone ${url}` }]),
  },
  {
    id: 'unzip',
    name: 'curl',
    write: (baseUrl, { skill, needsKey }) => (skill ? [{ files: [], text: skillCommand(baseUrl, { ...skill, needsKey }) }] : null),
  },
]
