import { claudeCommand, KEY_HEADER, SERVER } from './install-links.ts'

/** The placeholder for a key, here and in docs/connect.md. */
export const PLACEHOLDER_KEY = 'cpb_...'

/** A client of MCP, and what connects it. A test compares the configurations with docs/connect.md. */
export interface ClientConfig {
  /** In addresses, and in `CONNECT_WORDS.notes`. */
  readonly id: ClientId
  /** As its heading in docs/connect.md. */
  readonly name: string
  readonly samples: readonly ConfigSample[]
  /** How it signs in: by a command for a shell or for itself, by itself when it connects, or not at all. */
  readonly signsIn: { readonly in: 'shell' | 'client'; readonly command: string } | 'by itself' | 'never'
}

/** A command for a shell, or a part of a file. */
interface ConfigSample {
  /** The files it belongs in, any of them; none for a command. */
  readonly files: readonly string[]
  /** @param key null: public items only */
  write(endpoint: string, key: string | null): string
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
    samples: [
      { files: [], write: claudeCommand },
      { files: ['.mcp.json'], write: (url, key) => serverFile(['"type": "http"', `"url": ${JSON.stringify(url)}`], key) },
    ],
  },
  {
    id: 'cursor',
    name: 'Cursor',
    signsIn: 'by itself',
    samples: [
      { files: ['.cursor/mcp.json', '~/.cursor/mcp.json'], write: (url, key) => serverFile([`"url": ${JSON.stringify(url)}`], key) },
    ],
  },
  { id: 'vs-code', name: 'VS Code', signsIn: 'by itself', samples: [{ files: ['.vscode/mcp.json'], write: vsCodeFile }] },
  {
    id: 'claude-desktop',
    name: 'Claude Desktop',
    signsIn: 'by itself',
    samples: [{ files: ['claude_desktop_config.json'], write: claudeDesktopFile }],
  },
  {
    id: 'windsurf',
    name: 'Windsurf',
    signsIn: 'never',
    samples: [
      { files: ['~/.codeium/windsurf/mcp_config.json'], write: (url, key) => serverFile([`"serverUrl": ${JSON.stringify(url)}`], key) },
    ],
  },
  {
    id: 'codex',
    name: 'Codex',
    signsIn: { in: 'shell', command: `codex mcp login ${SERVER}` },
    samples: [{ files: ['~/.codex/config.toml'], write: codexFile }],
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    signsIn: { in: 'client', command: `/mcp auth ${SERVER}` },
    samples: [{ files: ['~/.gemini/settings.json'], write: (url, key) => serverFile([`"httpUrl": ${JSON.stringify(url)}`], key) }],
  },
]
