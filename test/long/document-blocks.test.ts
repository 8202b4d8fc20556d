import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { signUp } from '../support/browser.ts'
import { createKey, savePrompts } from '../support/library-fixtures.ts'
import { type ModelServer, startModelServer } from '../support/model-server.ts'
import { findFreePort } from '../support/postgres-server.ts'
import { run } from '../support/processes.ts'

/**
 * Runs the shell blocks of the README and the documents as they are printed: each document in a folder and library of its own, its blocks
 * in order. Two things differ from what a reader types: placeholders have values, and packages are installed already. A block that starts
 * the service gets a terminal of its own, as it would on a reader's desk. A block that cannot run here says why, in a comment above it.
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const DOCUMENTS = ['README.md', ...readdirSync(join(ROOT, 'docs')).flatMap((name) => (name.endsWith('.md') ? [join('docs', name)] : []))]
/** Most blocks that may say why they are not run. */
const MAX_NOT_RUN = 15
/** Longest time one block may take. */
const BLOCK_TIMEOUT_MS = 60_000

interface Block {
  readonly document: string
  readonly line: number
  readonly text: string
  /** Why it is not run, or null. */
  readonly reason: string | null
}

/** The shell blocks of a document. */
function findBlocks(document: string): Block[] {
  const lines = readFileSync(join(ROOT, document), 'utf8').split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, fence, language = ''] = /^\s*(`{3,}|~{3,})\s*(\w*)/.exec(lines[at] ?? '') ?? []
    if (fence === undefined) continue
    const end = lines.findIndex((line, index) => index > at && line.trim() === fence)
    const reason = /^<!-- not run: (\S.*) -->$/.exec(lines[at - 1] ?? '')?.[1] ?? null
    if (/^(sh|bash|shell|console)$/.test(language)) {
      blocks.push({ document, line: at + 1, text: lines.slice(at + 1, end).join('\n'), reason })
    }
    at = end
  }
  return blocks
}

const BLOCKS = DOCUMENTS.flatMap(findBlocks)

/** Files that readers are taken to have. */
const READERS_FILES: Readonly<Record<string, string>> = {
  'prompts.csv': 'act,prompt\nWalrus,Write about a walrus.\n',
  'prompts.jsonl': '{"title":"Heron","content":"Write about a heron."}\n',
  'path/to/skills/tidy/SKILL.md': '---\nname: tidy\ndescription: Tidy a room.\n---\nTidy.\n',
  'path/to/project/.claude/commands/fix.md': 'Fix $ARGUMENTS\n',
  'draft.txt': 'write a blog post about cats\n',
  'tone.md': 'Be brief.\n',
  'SKILL.md': '---\nname: tidy\ndescription: Tidy a room.\n---\nTidy it well.\n',
}

/** Programs that are not what they are on a reader's machine: `npm ci` has run, curl fails where a reader would see an error, and clients only look whether they are answered. */
const PROGRAMS: Readonly<Record<string, string>> = {
  npm: '#!/bin/sh\n[ "$1" = ci ] && exit 0\nPATH="$READERS_PATH" exec npm "$@"\n',
  curl: '#!/bin/sh\nPATH="$READERS_PATH" exec curl --silent --show-error --fail-with-body "$@"\n',
  claude: `#!/bin/sh
exec '${process.execPath}' '${fileURLToPath(new URL('../support/try-client.ts', import.meta.url))}' "$@"
`,
}

/** How long what a document started may take to stop. */
const STOP_MS = 2_000
/** Settings that the tests' own environment may have; an empty one counts as unset. */
const UNSET = { BASE_URL: '', DATABASE_URL: '', PROMPTS_API_KEY: '' }

/** A folder with a clone and a library, and the terminals that are open in it. */
interface Desk {
  readonly folder: string
  readonly url: string
  readonly env: NodeJS.ProcessEnv
  readonly databaseUrl: string
  /** Runs one command line of the program. */
  commonplace(...args: string[]): Promise<string>
  /** Runs a block to its end, or until the service it starts is there. */
  type(text: string): Promise<void>
  leave(): Promise<void>
}

async function sitDown(env: Record<string, string>): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-documents-'))
  for (const name of ['package.json', 'scripts', 'src', 'starter', 'dist', 'docs', 'assets', 'node_modules']) {
    symlinkSync(join(ROOT, name), join(folder, name))
  }
  const write = (name: string, text: string, mode = 0o644) => {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), mode)
  }
  for (const [name, text] of Object.entries(READERS_FILES)) write(name, text)
  for (const [name, text] of Object.entries(PROGRAMS)) write(join('bin', name), text, 0o755)
  const port = await findFreePort()
  const path = process.env['PATH'] ?? ''
  const desk = {
    HOME: folder,
    READERS_PATH: path,
    PATH: [join(folder, 'bin'), path].join(delimiter),
    PORT: String(port),
    LOG_LEVEL: 'warn',
    ...env,
  }
  const terminals: ChildProcess[] = []
  const open = (...args: string[]) => {
    const terminal = openTerminal(args, { cwd: folder, env: desk })
    terminals.push(terminal.child)
    return terminal
  }
  let typed = 0
  let shell: ReturnType<typeof openTerminal> | null = null
  let service: ReturnType<typeof openTerminal> | null = null
  return {
    folder,
    url: `http://127.0.0.1:${port}`,
    env: desk,
    databaseUrl: `sqlite:${join(folder, 'data', 'commonplace.db')}`,
    async commonplace(...args) {
      const { code, stdout, stderr } = await run('npm', ['run', '-s', 'commonplace', '--', ...args], {
        cwd: folder,
        env: { ...UNSET, ...env },
      })
      expect(code, stderr).toBe(0)
      return stdout
    },
    async type(text) {
      const file = join(folder, `.block-${++typed}`)
      writeFileSync(file, `${text}\n`)
      if (/\bnpm start\b|main\.js serve\b/.test(text)) {
        if (service) await end(service.child)
        service = open('-euo', 'pipefail', file)
        return await service.waitFor('Stop with Ctrl-C.')
      }
      shell ??= open()
      const done = `done-${typed}.`
      shell.child.stdin.write(`set -euo pipefail; . '${file}' < /dev/null; set +eu; echo ${done}\n`)
      await shell.waitFor(done)
    },
    async leave() {
      for (const terminal of terminals) await end(terminal)
      // A service stops by itself; one that has not by now would stay.
      await sleep(STOP_MS)
      for (const terminal of terminals) signalAll(terminal, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A bash, and what is said in it. */
function openTerminal(args: readonly string[], options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) {
  const child = spawn('bash', args, { ...options, detached: true })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  return {
    child,
    /** Waits for a text. Fails when the terminal ends before, or when it takes too long, with what was said. */
    async waitFor(awaited: string): Promise<void> {
      const isOver = () => said.includes(awaited) || child.exitCode !== null
      await vi.waitUntil(isOver, { timeout: BLOCK_TIMEOUT_MS, interval: 20 }).catch(() => {})
      if (!said.includes(awaited)) throw new Error(`${child.exitCode === null ? 'It took too long' : 'It ended'}:\n${said}`)
    },
  }
}

/** Sends a signal to a terminal and all it runs; what it runs may outlive it. */
function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(pid ?? 0), signal)
  } catch {
    // Nobody of them is there any more.
  }
}

/** Ends a terminal and what it runs. */
async function end(terminal: ChildProcess): Promise<void> {
  const ended = terminal.exitCode === null && terminal.signalCode === null ? once(terminal, 'exit') : null
  signalAll(terminal, 'SIGTERM')
  await ended
}

/** What a reader puts in place of a word. */
const PLACEHOLDERS: Readonly<Record<string, (desk: Desk) => Promise<string> | string>> = {
  'http://127.0.0.1:3000': (desk) => desk.url,
  'https://prompts.example.org': (desk) => desk.url,
  '/path/to/commonplace': (desk) => desk.folder,
  '/var/lib/commonplace': (desk) => join(desk.folder, 'var'),
  'cpb_...': (desk) => createKey(desk.databaseUrl, 'alice'),
  ID_OR_SLUG: async (desk) =>
    JSON.parse(await desk.commonplace('list-prompts', '--user', 'alice', '--q', 'release note', '--author', 'alice')).prompts[0].slug,
  SKILL_ID: async (desk) => JSON.parse(await desk.commonplace('list-skills', '--user', 'alice', '--author', 'alice')).skills[0].id,
  KEY_ID: async (desk) => JSON.parse(await desk.commonplace('keys', 'list', '--user', 'alice')).keys[0].id,
}

async function fillPlaceholders(text: string, desk: Desk): Promise<string> {
  let filled = text
  for (const [word, find] of Object.entries(PLACEHOLDERS)) {
    if (!filled.includes(word)) continue
    const value = await find(desk)
    filled = filled.replaceAll(word, value)
  }
  return filled
}

/** What documents take for granted, where they do not begin from nothing: a service, Alice with a key, a prompt and a skill, and Bob, who can sign in. */
async function prepare(desk: Desk): Promise<void> {
  await desk.type('npm start')
  await savePrompts(desk.databaseUrl, 'alice', [
    { title: 'Release note', content: 'Write a release note for ${product} in a ${tone:calm} tone.' },
  ])
  await desk.commonplace('import', 'skills', 'path/to/skills', '--user', 'alice', '--public')
  await desk.type(`KEY=${await createKey(desk.databaseUrl, 'alice')}`)
  const invite = new URL((await desk.commonplace('users', 'invite', 'bob', '--admin')).trim())
  await signUp(desk.url, { username: 'bob', invite: invite.searchParams.get('invite') ?? '' })
}

/** Documents that begin from nothing. */
const FROM_NOTHING = new Set(['README.md', 'docs/getting-started.md'])

describe.concurrent('the shell blocks of', () => {
  let models: ModelServer
  beforeAll(async () => {
    models = await startModelServer()
  })
  afterAll(() => models.stop())

  const documents = DOCUMENTS.filter((document) => BLOCKS.some((block) => block.document === document && block.reason === null))
  it.each(documents)('%s run as printed', { timeout: 300_000 }, async (document) => {
    const hasProvider = document === 'docs/search.md'
    const desk = await sitDown(hasProvider ? { EMBEDDINGS_URL: models.baseUrl, EMBEDDINGS_MODEL: 'normal:documents' } : {})
    try {
      if (!FROM_NOTHING.has(document)) await prepare(desk)
      for (const block of BLOCKS.filter((one) => one.document === document && one.reason === null)) {
        const text = await fillPlaceholders(block.text, desk)
        await desk.type(text).catch((cause: unknown) => {
          throw new Error(`${document}, line ${block.line}:\n${text}\n${cause instanceof Error ? cause.message : cause}`, { cause })
        })
      }
    } finally {
      await desk.leave()
    }
  })
})

it(`are run but for ${MAX_NOT_RUN} at most, which say why`, () => {
  const notRun = BLOCKS.filter(({ reason }) => reason !== null)
  expect(notRun.length).toBeLessThanOrEqual(MAX_NOT_RUN)
  expect(BLOCKS.length - notRun.length).toBeGreaterThan(30)
  // No comment stands where it has no effect.
  const comments = DOCUMENTS.flatMap((document) => readFileSync(join(ROOT, document), 'utf8').match(/<!-- not run.*/g) ?? [])
  expect(comments.length).toBe(notRun.length)
})

it('have no placeholder that stands nowhere', () => {
  for (const word of Object.keys(PLACEHOLDERS))
    expect(
      BLOCKS.some(({ text }) => text.includes(word)),
      word,
    ).toBe(true)
})
