import { marketplaceName } from '../domain/skills/channel-scope.ts'
import { skillCommand } from './install-links.ts'

/** The subject of an installation: every skill of a scope, or one skill. */
export interface Installed {
  /** Path of the scope, percent-encoded; empty for the whole library. */
  readonly scope: string
  /** One skill: its name in channels is null where they leave it out. */
  readonly skill?: { readonly id: string; readonly slug: string; readonly name: string | null }
  /** Whether it is read with a key alone. */
  readonly needsKey: boolean
}

/** A command for a shell, or a part of a file. */
interface Sample {
  /** The file it belongs in; absent for a command. */
  readonly file?: string
  readonly text: string
}

/** A program that installs skills. A test compares its lines with docs/install.md. */
interface Agent {
  /** In addresses, in connect.css and in `READING_WORDS.agentNotes`. */
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
      { text: `${command} marketplace add ${url}` },
      { text: `${command} ${install} ${plugin}` },
    ])

/** Every agent with a tab, the one that serves most first. */
export const AGENTS: readonly Agent[] = [
  {
    id: 'skills',
    name: 'npx skills',
    write: (baseUrl, installed) => (isShared(installed) ? [{ text: `npx skills add ${baseUrl}${installed.scope}` }] : null),
  },
  // Plugins of /marketplace.json are archives, which it takes from https and no loopback address.
  { id: 'claude-plugin', name: 'Claude Code', write: asPlugin('claude plugin', 'install') },
  { id: 'codex', name: 'Codex', write: asPlugin('codex plugin', 'add') },
  { id: 'copilot', name: 'Copilot CLI', write: asPlugin('copilot plugin', 'install') },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    write: (baseUrl, installed) =>
      fromGit(baseUrl, installed, ({ url, name }) => [{ text: `gemini skills install ${url} --path plugins/${name}/skills/${name}` }]),
  },
  {
    id: 'opencode',
    name: 'OpenCode',
    write: (baseUrl, installed) =>
      isShared(installed)
        ? [{ file: 'opencode.json', text: `{ "skills": { "urls": ["${baseUrl}${installed.scope}/.well-known/skills/"] } }` }]
        : null,
  },
  {
    id: 'git',
    name: 'Git',
    write: (baseUrl, installed) => fromGit(baseUrl, installed, ({ url }) => [{ text: `git clone ${url}` }]),
  },
  {
    id: 'unzip',
    name: 'curl',
    write: (baseUrl, { skill, needsKey }) => (skill ? [{ text: skillCommand(baseUrl, { ...skill, needsKey }) }] : null),
  },
]
