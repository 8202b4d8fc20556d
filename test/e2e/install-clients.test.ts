import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findTool, installClients } from '../../scripts/setup-tools.ts'
import { createKey } from '../support/library-fixtures.ts'
import { createPlace, type Place } from '../support/processes.ts'
import { json, readJson } from '../support/test-app.ts'

/** Real programs install skills from the built service. They are installed when these tests run, and run without a model. */

const PUBLIC = 150
const PRIVATE = 20
/** How a marketplace on this machine is called. */
const MARKET = '127-0-0-1'
const WAIT_MS = 120_000

let place: Place
let url: string
let key: string
let folder: string

const nameOf = (kind: 'open' | 'hidden', number: number) => `${kind}-${String(number).padStart(3, '0')}`
const skillMd = (name: string, text: string) => `---\nname: ${name}\ndescription: What ${name} does\n---\n\n${text}\n`

beforeAll(async () => {
  installClients()
  place = createPlace()
  folder = mkdtempSync(join(tmpdir(), 'commonplace-clients-'))
  for (const [kind, count] of [
    ['open', PUBLIC],
    ['hidden', PRIVATE],
  ] as const)
    for (let number = 1; number <= count; number++) {
      const name = nameOf(kind, number)
      mkdirSync(join(folder, kind, name), { recursive: true })
      writeFileSync(join(folder, kind, name, 'SKILL.md'), skillMd(name, 'Before'))
      // Every other one is an archive.
      if (number % 2 === 0) writeFileSync(join(folder, kind, name, 'note.txt'), name)
    }
  key = await createKey(place.databaseUrl, 'owner')
  await place.commonplace(['import', 'skills', join(folder, 'open'), '--user', 'owner', '--public'])
  await place.commonplace(['import', 'skills', join(folder, 'hidden'), '--user', 'owner'])
  url = (await place.serve()).url
}, 600_000)
afterAll(async () => {
  await place.remove()
  rmSync(folder, { recursive: true, force: true })
})

const send = async (method: string, path: string, body?: unknown) =>
  await readJson(await fetch(url + path, { ...json(method, body), headers: { 'content-type': 'application/json', 'x-api-key': key } }))
const edit = async (name: string, text: string) => await send('PUT', `/api/skills/${name}/files/SKILL.md`, { content: skillMd(name, text) })
const makeLink = async (name: string): Promise<{ url: string; revoke(): Promise<unknown> }> => {
  const made = await send('POST', '/api/install-links', { name })
  return { url: made.url, revoke: async () => await send('DELETE', `/api/install-links/${made.link.id}`) }
}

/** A person with a home folder of their own, who works in a folder of it. */
function person(name: string) {
  const home = join(folder, name)
  const work = join(home, 'work')
  mkdirSync(work, { recursive: true })
  return {
    home,
    work,
    /** Runs a program of clients/, and gives what it prints without colours. It prints to a file: some end before a pipe is read. */
    run: async (program: string, ...args: string[]): Promise<{ readonly code: number; readonly text: string }> => {
      const path = join(home, 'printed')
      const file = openSync(path, 'w')
      const env = { PATH: process.env['PATH'], HOME: home, CI: '1', DISABLE_TELEMETRY: '1', NO_COLOR: '1' }
      const command = findTool(`.bin/${program}`, 'clients')
      const child = spawn(command, args, { cwd: work, env, stdio: ['ignore', file, file], timeout: WAIT_MS })
      const code = await new Promise<number>((resolve, reject) => {
        child.once('error', reject)
        child.once('close', (ended) => resolve(ended ?? 1))
      })
      closeSync(file)
      return { code, text: stripVTControlCharacters(readFileSync(path, 'utf8')) }
    },
  }
}

const namesIn = (text: string) => [...new Set(text.match(/\b(?:open|hidden)-\d{3}\b/g))].toSorted()
const skillsIn = (path: string) => (existsSync(path) ? readdirSync(path).toSorted() : [])
const all = (kind: 'open' | 'hidden', count: number) => Array.from({ length: count }, (_, place) => nameOf(kind, place + 1))

/** The newest text of a skill below a folder of a client, which keeps older ones beside it. */
function textsOf(root: string, name: string): string[] {
  if (!existsSync(root)) return []
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(join('skills', name, 'SKILL.md')))
    .map((path) => readFileSync(join(root, path), 'utf8'))
}

describe('skills', () => {
  it('lists and installs every public skill, takes exactly what changed, and what a link gives until it is revoked', async () => {
    const { run, work } = person('skills')
    const installed = () => skillsIn(join(work, '.claude', 'skills'))
    expect(namesIn((await run('skills', 'add', url, '--list')).text)).toEqual(all('open', PUBLIC))
    await run('skills', 'add', url, '-y', '-a', 'claude-code')
    expect(installed()).toEqual(all('open', PUBLIC))
    await edit('open-007', 'After')
    const updated = await run('skills', 'update', '-y')
    expect(updated.text).toContain('Updated 1 skill(s)')
    const changed = installed().filter((name) => readFileSync(join(work, '.claude', 'skills', name, 'SKILL.md'), 'utf8').includes('After'))
    expect(changed).toEqual(['open-007'])
    const link = await makeLink('skills')
    const friend = person('friend')
    await friend.run('skills', 'add', link.url, '-y', '-a', 'claude-code')
    expect(skillsIn(join(friend.work, '.claude', 'skills'))).toEqual([...all('hidden', PRIVATE), ...all('open', PUBLIC)])
    await link.revoke()
    const late = person('late')
    await late.run('skills', 'add', link.url, '-y', '-a', 'claude-code')
    expect(skillsIn(join(late.work, '.claude', 'skills'))).toEqual([])
  }, 300_000)

  it('installs from the Git remote', async () => {
    const { run, work } = person('skills-git')
    await run('skills', 'add', `${url}/skills/open-003.git`, '-y', '-a', 'claude-code')
    expect(skillsIn(join(work, '.claude', 'skills'))).toEqual(['open-003'])
  }, 300_000)
})

/** A client of the Git remote: how it takes a marketplace or a skill, and where it keeps it. */
interface GitClient {
  readonly program: string
  /** Below the home folder: where installed skills are. */
  readonly keeps: string
  /** Adds a remote; its list of plugins is in `listed`. */
  add(remote: string): string[]
  install(name: string): string[]
  update(name: string): string[][]
  /** Below the home folder: where the client has the list of plugins. */
  readonly lists: string
}

const GIT_CLIENTS: readonly GitClient[] = [
  {
    program: 'claude',
    keeps: '.claude/plugins/cache',
    lists: '.claude/plugins/marketplaces',
    add: (remote) => ['plugin', 'marketplace', 'add', remote],
    install: (name) => ['plugin', 'install', `${name}@${MARKET}`],
    update: (name) => [
      ['plugin', 'marketplace', 'update', MARKET],
      ['plugin', 'update', `${name}@${MARKET}`],
    ],
  },
  {
    program: 'codex',
    keeps: '.codex/plugins/cache',
    lists: '.codex/.tmp/marketplaces',
    add: (remote) => ['plugin', 'marketplace', 'add', remote],
    install: (name) => ['plugin', 'add', `${name}@${MARKET}`],
    update: (name) => [
      ['plugin', 'marketplace', 'upgrade'],
      ['plugin', 'add', `${name}@${MARKET}`],
    ],
  },
  {
    program: 'copilot',
    keeps: '.copilot/installed-plugins',
    lists: '.copilot/.cache/copilot/marketplaces',
    add: (remote) => ['plugin', 'marketplace', 'add', remote],
    install: (name) => ['plugin', 'install', `${name}@${MARKET}`],
    update: (name) => [
      ['plugin', 'marketplace', 'update', MARKET],
      ['plugin', 'update', `${name}@${MARKET}`],
    ],
  },
]

/** Names of the plugins in the list that a client has taken. */
function listedIn(root: string): string[] {
  const file = readdirSync(root, { recursive: true, encoding: 'utf8' }).find((path) =>
    path.endsWith(join('.claude-plugin', 'marketplace.json')),
  )
  const { plugins } = JSON.parse(readFileSync(join(root, file ?? ''), 'utf8'))
  return plugins.map(({ name }: { name: string }) => name).toSorted()
}

describe.each(GIT_CLIENTS)('$program, from the Git remote', ({ program, keeps, lists, add, install, update }) => {
  it('lists every public skill, installs, updates, takes what a link gives, and nothing once it is revoked', async () => {
    const name = nameOf('open', 20 + GIT_CLIENTS.findIndex((client) => client.program === program))
    const { run, home } = person(program)
    expect(await run(program, ...add(`${url}/library.git`))).toMatchObject({ code: 0 })
    expect(listedIn(join(home, lists))).toEqual(all('open', PUBLIC))
    expect(await run(program, ...install(name))).toMatchObject({ code: 0 })
    expect(textsOf(join(home, keeps), name)).toEqual([expect.stringContaining('Before')])
    await edit(name, `After for ${program}`)
    for (const args of update(name)) expect(await run(program, ...args), args.join(' ')).toMatchObject({ code: 0 })
    expect(textsOf(join(home, keeps), name)).toContainEqual(expect.stringContaining(`After for ${program}`))
    const link = await makeLink(program)
    const friend = person(`${program}-friend`)
    expect(await friend.run(program, ...add(`${link.url}.git`))).toMatchObject({ code: 0 })
    expect(listedIn(join(friend.home, lists))).toEqual([...all('hidden', PRIVATE), ...all('open', PUBLIC)])
    await link.revoke()
    expect(await person(`${program}-late`).run(program, ...add(`${link.url}.git`))).toMatchObject({ code: 1 })
  }, 300_000)
})

describe('gemini, from the Git remote', () => {
  it('installs a skill, and again after a change', async () => {
    const { run, home } = person('gemini')
    const args = ['skills', 'install', `${url}/library.git`, '--path', 'plugins/open-030/skills/open-030', '--consent']
    for (const text of ['First', 'Second']) {
      await edit('open-030', text)
      expect(await run('gemini', ...args)).toMatchObject({ code: 0 })
      expect(readFileSync(join(home, '.gemini', 'skills', 'open-030', 'SKILL.md'), 'utf8')).toContain(text)
    }
  }, 300_000)
})

it('a skill that is made private is in none of them any more', async () => {
  const { skill } = await send('PATCH', '/api/skills/open-140', { isPrivate: true })
  expect(skill.isPrivate).toBe(true)
  const { run, home } = person('after')
  expect(namesIn((await run('skills', 'add', url, '--list')).text)).not.toContain('open-140')
  await run('codex', 'plugin', 'marketplace', 'add', `${url}/library.git`)
  expect(listedIn(join(home, '.codex/.tmp/marketplaces'))).not.toContain('open-140')
}, 300_000)
