import { execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findTool, installClients } from '../../scripts/setup-tools.ts'
import { LangfuseClient } from '../../tools/langfuse.ts'
import { makeFolder } from '../support/folders.ts'
import { findCertificateObstacle, type HttpsFront, startHttpsFront } from '../support/https-front.ts'
import { createKey } from '../support/library-fixtures.ts'
import { createPlace, type Place } from '../support/processes.ts'
import { json, readJson } from '../support/test-app.ts'

/** Real programs install skills from the built service. They are installed when these tests run, and run without a model. */

const PUBLIC = 150
const PRIVATE = 20
/** How a marketplace on this machine is called. */
const MARKET = '127-0-0-1'
const WAIT_MS = 120_000
/** OpenCode comes as the package of one platform: the one that chooses among platforms names packages that not every registry has. */
const OPENCODE = 'opencode-linux-x64-baseline/bin/opencode'

const nameOf = (kind: 'open' | 'hidden', number: number) => `${kind}-${String(number).padStart(3, '0')}`
const skillMd = (name: string, text: string) => `---\nname: ${name}\ndescription: What ${name} does\n---\n\n${text}\n`

/** What most clients install from. */
let library: Library
/** Where the skills are imported from, and where people have their home folders. */
const folder = makeFolder()
/** Every library that was opened. */
const places: Place[] = []

beforeAll(async () => {
  installClients()
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
  library = await openLibrary()
}, 600_000)
afterAll(async () => {
  for (const place of places) await place.remove()
})

/** A running service with every skill in it, and its owner. */
interface Library {
  /** Where this process reaches it. */
  readonly url: string
  readonly key: string
  edit(name: string, text: string): Promise<unknown>
  label(collection: 'prompts' | 'skills', id: string, version: number): Promise<unknown>
  /** Takes the last move of the label back. */
  undo(collection: 'prompts' | 'skills', id: string): Promise<unknown>
  /** Sends a request with the owner's key, and reads the answer. */
  send(method: string, path: string, body?: unknown): ReturnType<typeof readJson>
  makePrivate(name: string): Promise<void>
  makeLink(name: string): Promise<{ url: string; revoke(): Promise<unknown> }>
}

/** @param baseUrl where clients reach it. Default: where it listens. */
async function openLibrary(baseUrl = ''): Promise<Library> {
  const place = createPlace()
  places.push(place)
  const key = await createKey(place.databaseUrl, 'owner')
  await place.commonplace(['import', 'skills', join(folder, 'open'), '--user', 'owner', '--public'])
  await place.commonplace(['import', 'skills', join(folder, 'hidden'), '--user', 'owner'])
  const served = await place.serve(baseUrl === '' ? {} : { env: { BASE_URL: baseUrl } })
  const url = served.ownUrls[0] ?? ''
  const send = async (method: string, path: string, body?: unknown) =>
    await readJson(await fetch(url + path, { ...json(method, body), headers: { 'content-type': 'application/json', 'x-api-key': key } }))
  return {
    url,
    key,
    edit: async (name, text) => await send('PUT', `/api/skills/${name}/files/SKILL.md`, { content: skillMd(name, text) }),
    label: async (collection, id, version) =>
      await send('PUT', `/api/${collection}/${id}/labels/production`, { version, reason: `Version ${version}` }),
    undo: async (collection, id) => await send('POST', `/api/${collection}/${id}/labels/production/undo`, {}),
    send,
    async makePrivate(name) {
      const { skill } = await send('PATCH', `/api/skills/${name}`, { isPrivate: true })
      expect(skill.isPrivate).toBe(true)
    },
    async makeLink(name) {
      const made = await send('POST', '/api/install-links', { name })
      return { url: made.url, revoke: async () => await send('DELETE', `/api/install-links/${made.link.id}`) }
    },
  }
}

/** A person with a home folder of their own, who works in a folder of it. */
function person(name: string, more: Readonly<Record<string, string>> = {}) {
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
      const env = { PATH: process.env['PATH'], HOME: home, CI: '1', DISABLE_TELEMETRY: '1', NO_COLOR: '1', ...more }
      const command = findTool(program === 'opencode' ? OPENCODE : `.bin/${program}`, 'clients')
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
    expect(namesIn((await run('skills', 'add', library.url, '--list')).text)).toEqual(all('open', PUBLIC))
    await run('skills', 'add', library.url, '-y', '-a', 'claude-code')
    expect(installed()).toEqual(all('open', PUBLIC))
    await library.edit('open-007', 'After')
    const updated = await run('skills', 'update', '-y')
    expect(updated.text).toContain('Updated 1 skill(s)')
    const changed = installed().filter((name) => readFileSync(join(work, '.claude', 'skills', name, 'SKILL.md'), 'utf8').includes('After'))
    expect(changed).toEqual(['open-007'])
    const link = await library.makeLink('skills')
    const friend = person('friend')
    await friend.run('skills', 'add', link.url, '-y', '-a', 'claude-code')
    expect(skillsIn(join(friend.work, '.claude', 'skills'))).toEqual([...all('hidden', PRIVATE), ...all('open', PUBLIC)])
    await link.revoke()
    const late = person('late')
    await late.run('skills', 'add', link.url, '-y', '-a', 'claude-code')
    expect(skillsIn(join(late.work, '.claude', 'skills'))).toEqual([])
  }, 300_000)

  it('follows a label through its moves, as Langfuse, prompts/get and Git do', async () => {
    const [skill, prompt] = ['open-009', 'folder/greeting']
    const langfuse = new LangfuseClient({ publicKey: 'pk', secretKey: library.key, baseUrl: library.url })
    await langfuse.prompt.create({ name: prompt, prompt: 'Before', labels: ['production'] })
    await langfuse.prompt.create({ name: prompt, prompt: 'After' })
    const [found] = (await library.send('GET', `/api/prompts?q=${prompt}`)).prompts
    await library.label('skills', skill, 1)
    await library.edit(skill, 'After')
    const { run, work, home } = person('labelled')
    await run('skills', 'add', `${library.url}/labels/production`, '-y', '-a', 'claude-code')
    expect(skillsIn(join(work, '.claude', 'skills'))).toEqual([skill])
    const git = (...args: string[]) => execFileSync('git', args, { cwd: home, env: { ...process.env, HOME: home }, stdio: 'pipe' })
    git('clone', '-q', '-b', 'production', `${library.url}/library.git`, 'library')
    const read = (...path: string[]) => /\b(?:Before|After)\b/.exec(readFileSync(join(...path), 'utf8'))?.[0]
    /** The text that each client has, once it has looked for a newer one. */
    const texts = async () => {
      await run('skills', 'update', '-y')
      git('-C', 'library', 'pull', '-q', '--ff-only')
      const { result } = await library.send('POST', '/api/mcp', {
        jsonrpc: '2.0',
        id: 1,
        method: 'prompts/get',
        params: { name: `${found.slug}@production` },
      })
      return [
        read(work, '.claude', 'skills', skill, 'SKILL.md'),
        read(home, 'library', 'plugins', skill, 'skills', skill, 'SKILL.md'),
        (await langfuse.prompt.get(prompt, { cacheTtlSeconds: 0 })).prompt,
        result.messages[0].content.text,
      ]
    }
    expect(await texts()).toEqual(Array(4).fill('Before'))
    await library.label('skills', skill, 2)
    await library.label('prompts', found.id, 2)
    expect(await texts()).toEqual(Array(4).fill('After'))
    await library.undo('skills', skill)
    await library.undo('prompts', found.id)
    expect(await texts()).toEqual(Array(4).fill('Before'))
  }, 300_000)

  it('installs from the Git remote', async () => {
    const { run, work } = person('skills-git')
    await run('skills', 'add', `${library.url}/skills/open-003.git`, '-y', '-a', 'claude-code')
    expect(skillsIn(join(work, '.claude', 'skills'))).toEqual(['open-003'])
  }, 300_000)
})

/** A client of the Git remote: how it takes a marketplace or a skill, and where it keeps it. */
interface GitClient {
  readonly program: string
  /** Below the home folder: where installed skills are. */
  readonly keeps: string
  /** Below the home folder: where the client has the list of plugins. */
  readonly lists: string
  /** After `plugin`. */
  readonly install: readonly string[]
  readonly update: readonly (readonly string[])[]
}

const USUAL = { install: ['install'], update: [['marketplace', 'update', MARKET], ['update']] }
const GIT_CLIENTS: readonly GitClient[] = [
  { program: 'claude', keeps: '.claude/plugins/cache', lists: '.claude/plugins/marketplaces', ...USUAL },
  {
    program: 'codex',
    keeps: '.codex/plugins/cache',
    lists: '.codex/.tmp/marketplaces',
    install: ['add'],
    update: [['marketplace', 'upgrade'], ['add']],
  },
  { program: 'copilot', keeps: '.copilot/installed-plugins', lists: '.copilot/.cache/copilot/marketplaces', ...USUAL },
]

/** Names of the plugins in the list that a client has taken. */
function listedIn(root: string): string[] {
  const file = readdirSync(root, { recursive: true, encoding: 'utf8' }).find((path) =>
    path.endsWith(join('.claude-plugin', 'marketplace.json')),
  )
  const { plugins } = JSON.parse(readFileSync(join(root, file ?? ''), 'utf8'))
  return plugins.map(({ name }: { name: string }) => name).toSorted()
}

describe.each(GIT_CLIENTS)('$program, from the Git remote', ({ program, keeps, lists, install, update }) => {
  it('lists every public skill, installs, updates, takes what a link gives, and nothing once it is revoked', async () => {
    const name = nameOf('open', 20 + GIT_CLIENTS.findIndex((client) => client.program === program))
    const { run, home } = person(program)
    const add = (remote: string) => ['plugin', 'marketplace', 'add', remote]
    // Words of a marketplace are whole; the others are about the skill.
    const call = async (words: readonly string[]) =>
      await run(program, 'plugin', ...words, ...(words.length > 1 ? [] : [`${name}@${MARKET}`]))
    expect(await run(program, ...add(`${library.url}/library.git`))).toMatchObject({ code: 0 })
    expect(listedIn(join(home, lists))).toEqual(all('open', PUBLIC))
    expect(await call(install)).toMatchObject({ code: 0 })
    expect(textsOf(join(home, keeps), name)).toEqual([expect.stringContaining('Before')])
    await library.edit(name, `After for ${program}`)
    for (const words of update) expect(await call(words), words.join(' ')).toMatchObject({ code: 0 })
    expect(textsOf(join(home, keeps), name)).toContainEqual(expect.stringContaining(`After for ${program}`))
    const link = await library.makeLink(program)
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
    const args = ['skills', 'install', `${library.url}/library.git`, '--path', 'plugins/open-030/skills/open-030', '--consent']
    for (const text of ['First', 'Second']) {
      await library.edit('open-030', text)
      expect(await run('gemini', ...args)).toMatchObject({ code: 0 })
      expect(readFileSync(join(home, '.gemini', 'skills', 'open-030', 'SKILL.md'), 'utf8')).toContain(text)
    }
  }, 300_000)
})

const hasOpencode = process.platform === 'linux' && process.arch === 'x64'
if (!hasOpencode) process.stderr.write('\nSKIPPED: OpenCode takes no skills, because its package is for Linux on x64.\n')

describe.skipIf(!hasOpencode)('opencode, from the well-known index', () => {
  /** A person whose settings name an address of skills, and what OpenCode has of them each time it starts. */
  function reader(name: string, address: string) {
    const { home, work, run } = person(name, { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' })
    writeFileSync(join(work, 'opencode.json'), JSON.stringify({ skills: { urls: [`${address}/.well-known/skills/`] } }))
    const kept = (skill: string) => join(home, '.cache', 'opencode', 'skills', skill)
    return {
      kept,
      /** The skills it offers to a model, by name, and when it wrote each. */
      start: async () => {
        const { code, text } = await run('opencode', 'debug', 'skill')
        expect(code, text).toBe(0)
        const offered: { name: string; content: string }[] = JSON.parse(text)
        return new Map(
          offered
            .filter(({ name }) => /^(?:open|hidden)-/.test(name))
            .map(({ name, content }) => [name, { content, writtenAt: statSync(join(kept(name), 'SKILL.md')).mtimeMs }]),
        )
      },
    }
  }
  const namesOf = (skills: ReadonlyMap<string, unknown>) => [...skills.keys()].toSorted()

  it('has every public skill with its files, takes exactly what changed, and what a link gives until it is revoked', async () => {
    const { start, kept } = reader('opencode', library.url)
    const before = await start()
    expect(namesOf(before)).toEqual(all('open', PUBLIC))
    expect(readFileSync(join(kept('open-052'), 'note.txt'), 'utf8')).toBe('open-052')
    await library.edit('open-051', 'After')
    const after = await start()
    expect(namesOf(after).filter((name) => after.get(name)?.writtenAt !== before.get(name)?.writtenAt)).toEqual(['open-051'])
    expect(after.get('open-051')?.content).toContain('After')
    await library.makePrivate('open-141')
    expect(namesOf(await start())).toEqual(all('open', PUBLIC).filter((name) => name !== 'open-141'))
    const link = await library.makeLink('opencode')
    const friend = reader('opencode-friend', link.url)
    expect(namesOf(await friend.start())).toEqual([...all('hidden', PRIVATE), ...all('open', PUBLIC)])
    await link.revoke()
    expect(namesOf(await friend.start())).toEqual([])
  }, 300_000)
})

it('a skill that is made private is in none of them any more', async () => {
  await library.makePrivate('open-140')
  const { run, home } = person('after')
  expect(namesIn((await run('skills', 'add', library.url, '--list')).text)).not.toContain('open-140')
  await run('codex', 'plugin', 'marketplace', 'add', `${library.url}/library.git`)
  expect(listedIn(join(home, '.codex/.tmp/marketplaces'))).not.toContain('open-140')
}, 300_000)

/** What the marketplace is reached as: Claude Code takes archives from https alone, and never from a loopback address. */
const HOST = 'library.test'
const SECURE_MARKET = 'library-test'

const obstacle = findCertificateObstacle()
if (obstacle !== null) process.stderr.write(`\nSKIPPED: Claude Code installs nothing over https, because ${obstacle}.\n`)

describe.skipIf(obstacle !== null)('claude, from the marketplace over https', () => {
  let front: HttpsFront
  let secure: Library

  beforeAll(async () => {
    const certificates = join(folder, 'certificates')
    mkdirSync(certificates)
    front = await startHttpsFront(HOST, certificates)
    secure = await openLibrary(`https://${HOST}`)
    front.setTarget(secure.url)
  }, 300_000)
  afterAll(() => front.close())

  /** The name of a marketplace, which differs by who reads it. */
  const marketAt = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
    const { name } = JSON.parse(await (await fetch(`${secure.url}${path}/marketplace.json`, { headers })).text())
    return String(name)
  }

  /** A person with Claude Code, who adds the marketplace at an address. */
  function user(name: string, more: Readonly<Record<string, string>> = {}, market = SECURE_MARKET) {
    const { home, run } = person(`https-${name}`, { ...front.env, ...more })
    const claude = async (...args: string[]) => await run('claude', ...args)
    /** What Claude Code knows of each plugin: where it is, and the start of its digest, of the installed one if there is one. */
    const list = async () => {
      const { installed, available } = JSON.parse((await claude('plugin', 'list', '--json', '--available')).text)
      return new Map<string, { version: string; path?: string; url?: string }>([
        ...available.map(({ name, source }: { name: string; source: { url: string; sha256: string } }) => [
          name,
          { version: source.sha256.slice(0, 12), url: source.url },
        ]),
        ...installed.map(({ id, version, installPath }: { id: string; version: string; installPath: string }) => [
          id.replace(`@${market}`, ''),
          { version, path: installPath },
        ]),
      ])
    }
    return {
      home,
      claude,
      list,
      names: async () => [...(await list()).keys()].toSorted(),
      add: async (address: string) => await claude('plugin', 'marketplace', 'add', `${address}/marketplace.json`),
      refresh: async () => await claude('plugin', 'marketplace', 'update', market),
      install: async (plugin: string) => await claude('plugin', 'install', `${plugin}@${market}`),
      update: async (plugin: string) => await claude('plugin', 'update', `${plugin}@${market}`),
      /** The texts of an installed plugin's skills, by name; a plugin of one skill has it at its root. */
      texts: async (plugin: string) => {
        const root = (await list()).get(plugin)?.path ?? ''
        const read = (...path: string[]) => readFileSync(join(root, ...path, 'SKILL.md'), 'utf8')
        if (existsSync(join(root, 'SKILL.md'))) return new Map([[plugin, read()]])
        return new Map(skillsIn(join(root, 'skills')).map((name) => [name, read('skills', name)]))
      },
    }
  }

  const BUNDLE = 'all-skills'
  const DONE = { code: 0 }
  const REFUSED = { code: 1, text: expect.stringContaining('HTTP 404') }

  it('lists every public skill, installs one and all of them, and takes exactly what changed', async () => {
    const { add, names, list, install, refresh, update, texts } = user('public')
    expect(await add(`https://${HOST}`)).toMatchObject(DONE)
    expect(await names()).toEqual([BUNDLE, ...all('open', PUBLIC)])
    const plugins = ['open-041', 'open-042', BUNDLE]
    for (const plugin of plugins) expect(await install(plugin), plugin).toMatchObject(DONE)
    expect([...(await texts(BUNDLE)).keys()]).toEqual(all('open', PUBLIC))
    const before = await list()
    await secure.edit('open-041', 'After')
    expect(await refresh()).toMatchObject(DONE)
    for (const plugin of plugins) expect(await update(plugin), plugin).toMatchObject(DONE)
    expect((await update('open-042')).text).toContain('already at the latest version')
    const after = await list()
    expect([...after.keys()].filter((name) => after.get(name)?.version !== before.get(name)?.version).toSorted()).toEqual([
      BUNDLE,
      'open-041',
    ])
    expect((await texts('open-041')).get('open-041')).toContain('After')
    expect([...(await texts(BUNDLE))].filter(([, text]) => text.includes('After')).map(([name]) => name)).toEqual(['open-041'])
  }, 300_000)

  it('takes what a link gives, and nothing once it is revoked', async () => {
    const link = await secure.makeLink('claude')
    const friend = user('friend', {}, await marketAt(new URL(link.url).pathname))
    expect(await friend.add(link.url)).toMatchObject(DONE)
    const given = [...all('hidden', PRIVATE), ...all('open', PUBLIC)]
    expect(await friend.names()).toEqual([BUNDLE, ...given])
    for (const plugin of ['hidden-003', BUNDLE]) expect(await friend.install(plugin), plugin).toMatchObject(DONE)
    expect((await friend.texts('hidden-003')).get('hidden-003')).toContain('Before')
    expect([...(await friend.texts(BUNDLE)).keys()]).toEqual(given)
    await link.revoke()
    expect(await user('late').add(link.url)).toMatchObject(REFUSED)
    expect(await friend.refresh()).toMatchObject(REFUSED)
    expect(await friend.install('hidden-004')).toMatchObject(REFUSED)
  }, 300_000)

  it('takes what a key in its settings gives, when it starts', async () => {
    // Without an account it ends before it asks a model, but after it has installed what its settings name.
    const headers = { Authorization: `Bearer ${secure.key}` }
    const market = await marketAt('', headers)
    const { home, claude, names, install, texts } = user('settings', { CLAUDE_CODE_SYNC_PLUGIN_INSTALL: '1' }, market)
    const source = { source: 'url', url: `https://${HOST}/marketplace.json`, headers }
    const settings = { extraKnownMarketplaces: { [market]: { source } }, enabledPlugins: { [`hidden-006@${market}`]: true } }
    mkdirSync(join(home, '.claude'))
    writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(settings))
    expect((await claude('--print', 'hello')).text).toContain('Not logged in')
    expect(skillsIn(join(home, '.claude', 'plugins', 'cache', market))).toEqual(['hidden-006'])
    expect(await names()).toEqual([BUNDLE, ...all('hidden', PRIVATE), ...all('open', PUBLIC)])
    expect(await install('hidden-007')).toMatchObject(DONE)
    expect((await texts('hidden-007')).get('hidden-007')).toContain('Before')
  }, 300_000)

  it('lists no skill that was made private, and installs none', async () => {
    const { add, names, refresh, install } = user('after')
    expect(await add(`https://${HOST}`)).toMatchObject(DONE)
    await secure.makePrivate('open-140')
    expect(await install('open-140')).toMatchObject(REFUSED)
    expect(await refresh()).toMatchObject(DONE)
    expect(await names()).toEqual([BUNDLE, ...all('open', PUBLIC).filter((name) => name !== 'open-140')])
  }, 300_000)
})
