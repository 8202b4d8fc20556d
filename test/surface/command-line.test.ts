import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPlace, MAIN, type Place, run } from '../support/processes.ts'

let place: Place
beforeEach(() => {
  place = createPlace()
})
afterEach(() => place.remove())

/** Gives a command a terminal (util-linux). */
const SCRIPT = '/usr/bin/script'

const status = async (url: string, options: RequestInit = {}) => (await fetch(url, options)).status

describe('serve', () => {
  it('starts on an empty database with the starter library, says what to do next, and stops cleanly', async () => {
    const { url, child, stdout } = await place.serve({ instances: 1, args: ['--starter'] })
    expect(stdout).toMatch(/Loaded the starter library: \d\d prompts and skills/)
    for (const hint of [
      `${url}/api/mcp`,
      '"mcpServers"',
      `${relative(process.cwd(), MAIN)} keys create --user`,
      ', with the same DATABASE_URL:',
      'claude mcp add',
    ])
      expect(stdout).toContain(hint)
    const list = await (await fetch(`${url}/api/prompts`)).json()
    expect(Object(list).total).toBeGreaterThanOrEqual(40)
    expect(Object(list).prompts[0].url.startsWith(`${url}/prompts/`)).toBe(true)
    expect([await status(`${url}/healthz`), await status(`${url}/readyz`)]).toEqual([200, 200])
    child.kill('SIGTERM')
    expect((await once(child, 'exit'))[0]).toBe(0)
    const again = await place.serveHere({}, { starter: true })
    expect(again.stdout()).not.toContain('Loaded')
  })

  it('leaves a library that is not empty alone, and mentions no MCP when it is off', async () => {
    await place.commonplace(['users', 'create', 'ada'])
    await place.commonplace(['save-prompt', '--user', 'ada', '--title', 'Mine', '--content', 'x', '--is-private', 'false'])
    const { url, stdout } = await place.serveHere({ MCP_ENABLED: 'false' }, { starter: true })
    expect(Object(await (await fetch(`${url}/api/prompts`)).json()).total).toBe(1)
    expect(stdout().toLowerCase()).not.toContain('mcp')
    expect(await status(`${url}/api/mcp`, { method: 'POST' })).toBe(404)
  })

  it('is stopped by a setting out of range, with a sentence naming it', async () => {
    const rows: [Record<string, string>, RegExp][] = [
      [{ PORT: '70000' }, /^PORT must be a port number/],
      [{ PORT: 'x', LOG_LEVEL: 'loud' }, /PORT must be[\s\S]*LOG_LEVEL must be one of/],
    ]
    for (const [env, reason] of rows) {
      const { code, stderr } = await place.commonplace(['serve'], { env })
      expect([code, reason.test(stderr)], `${JSON.stringify(env)} ${stderr}`).toEqual([64, true])
    }
    expect(readdirSync(place.folder)).toEqual([])
  })

  it('says so when the port is taken or the file is no library', async () => {
    const { url } = await place.serveHere()
    const taken = await place.commonplace(['serve'], { env: { PORT: new URL(url).port } })
    expect([taken.code, taken.stderr]).toEqual([69, expect.stringMatching(/Could not listen.*Set PORT or HOST/)])
    const file = join(place.folder, 'not-a-library.db')
    writeFileSync(file, 'hello, this is a text and not a database at all\n'.repeat(100))
    const broken = await place.commonplace(['serve'], { env: { DATABASE_URL: `sqlite:${file}` } })
    expect([broken.code, broken.stderr]).toEqual([69, expect.stringContaining('not-a-library.db')])
  })
})

describe('exit statuses', () => {
  it.each([
    [64, ['no-such-command']],
    [64, ['get-prompt']],
    [64, ['get-prompt', 'x', 'y']],
    [64, ['list-prompts', '--no-such-option']],
    [64, ['list-prompts', '--type', 'poem']],
    [64, ['keys', 'create', '--user', 'ada']],
    [64, ['keys', 'no-such-command']],
    [64, ['keys']],
    [64, []],
    [0, ['--help']],
    [0, ['help', 'search']],
    [0, ['search', '--help']],
    [0, ['--version']],
  ])('%i after %j', async (expected, args) => {
    const { code, stdout, stderr } = await place.commonplace(args)
    expect([code, stdout === '', stderr === '']).toEqual([expected, expected !== 0, expected === 0])
  })
})

describe('links', () => {
  const invite = async (env: Record<string, string> = {}) => {
    const { stdout, stderr } = await place.commonplace(['users', 'invite'], { env })
    return { origin: new URL(stdout.trim()).origin, stderr }
  }
  const GUESS =
    'The address of the service is unknown, so links start with http://127.0.0.1:3000. Start the service once or set BASE_URL.\n'

  it('lead to the service that listened last, or to BASE_URL', async () => {
    await place.commonplace(['users', 'create', 'ada'])
    const env = { PORT: '3000' }
    const unknown = await invite(env)
    expect([unknown.origin, unknown.stderr.endsWith(GUESS)]).toEqual(['http://127.0.0.1:3000', true])
    const save = ['save-prompt', '--user', 'ada', '--title', 'Walrus', '--content', 'x']
    expect((await place.commonplace(save, { env })).stderr).toBe(GUESS)
    const { url, stop } = await place.serveHere()
    const known = await invite(env)
    expect([known.origin, known.stderr.includes('not known')]).toEqual([url, false])
    await stop()
    await place.serveHere({ BASE_URL: 'https://prompts.example.org' })
    expect((await invite()).origin).toBe('https://prompts.example.org')
    const saved = await place.commonplace(save, { env })
    expect([JSON.parse(saved.stdout).prompt.url.split('/prompts/')[0], saved.stderr]).toEqual(['https://prompts.example.org', ''])
    expect((await invite({ BASE_URL: 'https://other.example.org' })).origin).toBe('https://other.example.org')
  })
})

describe('keys', () => {
  it('are printed alone, work at once, list without themselves, and end when revoked', async () => {
    await place.commonplace(['users', 'create', 'ada', '--public-by-default'])
    const made = await place.commonplace('keys create --user ADA --name laptop --scopes read,write --expires 90d'.split(' '))
    expect(made.stdout).toMatch(/^cpb_[0-9A-Za-z]{49}\n$/)
    const key = made.stdout.trim()
    const { url } = await place.serveHere()
    const save = () =>
      fetch(`${url}/api/prompts`, {
        method: 'POST',
        headers: { 'X-API-Key': key, 'content-type': 'application/json' },
        body: '{"title":"t","content":"c"}',
      })
    const saved = await save()
    expect([saved.status, Object(await saved.json()).prompt.visibility]).toEqual([201, 'public'])
    const list = (await place.commonplace(['keys', 'list'])).stdout
    const [listed] = JSON.parse(list).keys
    const times = { expiresAt: expect.stringMatching(/^20/), lastUsedAt: expect.stringMatching(/^20/) }
    expect(listed).toMatchObject({ username: 'ada', kind: 'key', name: 'laptop', scopes: ['read', 'write'], state: 'active', ...times })
    expect(list).not.toContain(key.slice(4, 20))
    expect((await place.commonplace(['keys', 'revoke', listed.id])).stdout).toBe('Revoked key "laptop" of ada.\n')
    expect((await save()).status).toBe(401)
  })

  it('refuse what makes no sense', async () => {
    const program = relative(process.cwd(), MAIN).replaceAll('.', '\\.')
    const made = await place.commonplace(['users', 'create', 'ada'])
    expect(made.stdout).toMatch(
      new RegExp(
        `^Created user "ada"\\. Create a key with the same DATABASE_URL: \\S+ ${program} keys create --user ada --name "my laptop"\n$`,
      ),
    )
    const rows: [string[], RegExp][] = [
      [['users', 'create', 'Ada'], /taken/],
      [['users', 'create', 'a b'], /may contain only/],
      [
        ['keys', 'create', '--user', 'nobody', '--name', 'x'],
        /User "nobody" not found\. Create it with the same DATABASE_URL: \S+ \S+main\.js users create nobody\n$/,
      ],
      [['keys', 'create', '--user', '$(ls)', '--name', 'x'], /User "\$\(ls\)" not found\.\n$/],
      [['keys', 'create', '--user', 'ada', '--name', ' '], /--name.*blank/],
      [['keys', 'create', '--user', 'ada', '--name', 'x', '--scopes', 'admin'], /--scopes must be/],
      [['keys', 'create', '--user', 'ada', '--name', 'x', '--expires', 'soon'], /--expires must be/],
      [['keys', 'revoke', 'nothing'], /Key nothing not found\. List the ids with the same DATABASE_URL: \S+ \S+ keys list\n$/],
    ]
    for (const [args, reason] of rows) {
      const { code, stdout, stderr } = await place.commonplace(args)
      expect([code === 0, stdout, reason.test(stderr)], `${args.join(' ')}: ${stderr}`).toEqual([false, '', true])
    }
    expect(JSON.parse((await place.commonplace(['keys', 'list'])).stdout)).toEqual({ keys: [] })
  })

  it('are not looked for in a library that is not there', async () => {
    const missing = join(place.folder, 'typo', 'x.db')
    for (const args of [
      ['keys', 'list'],
      ['users', 'list'],
      ['export', join(place.folder, 'out')],
      ['search', 'x'],
    ]) {
      const { code, stderr } = await place.commonplace(args, { env: { DATABASE_URL: `sqlite:${missing}` } })
      expect([code, stderr.includes(missing)], args.join(' ')).toEqual([66, true])
    }
    expect(existsSync(missing)).toBe(false)
  })
})

describe('operations as commands', () => {
  it('search and print for people, act as a user, and work through another server', async () => {
    await place.commonplace(['users', 'create', 'ada'])
    const file = join(place.folder, 'text.md')
    writeFileSync(file, 'From a file: ${x}')
    mkdirSync(join(place.folder, 'other'))
    const saved = await place.commonplace([
      'save-prompt',
      '--user',
      'ada',
      '--title',
      'Walrus',
      '--content',
      `@${file}`,
      '--tags',
      'a, b',
      '--is-private',
      'false',
    ])
    expect(JSON.parse(saved.stdout).prompt).toMatchObject({ content: 'From a file: ${x}', tags: ['a', 'b'], author: 'ada' })
    const [found] = JSON.parse((await place.commonplace(['search', 'a', 'walrus'])).stdout).prompts
    expect([found.slug, found.title]).toEqual(['walrus', 'Walrus'])
    if (existsSync(SCRIPT)) {
      const onTerminal = async (args: string) =>
        (await run(SCRIPT, ['-qec', `'${process.execPath}' '${MAIN}' ${args}`, '/dev/null'], { env: place.env })).stdout
      expect(await onTerminal('search walrus')).toBe('slug    type  title\r\nwalrus  TEXT  Walrus\r\n')
      expect(await onTerminal('search nothing')).toBe('Nothing found.\r\n')
      expect(await onTerminal('users list')).toMatch(/^username {2}kind .*\r\nada {7}reserved {2}user {2}1 .*\r\n$/)
      expect(await onTerminal('audit')).toMatch(/^at +action .*\r\n20.* item_created +cli +ada +Walrus\r\n/)
      for (const list of ['users', 'keys', 'teams']) {
        expect(Object.keys(JSON.parse(await onTerminal(`${list} list --json`))), list).toEqual([list])
      }
    }
    const anonymous = await place.commonplace(['save-prompt', '--title', 'x', '--content', 'y'])
    expect([anonymous.code, anonymous.stderr]).toEqual([
      77,
      'save-prompt needs a user: add --user NAME, or set PROMPTS_API_KEY to an API key.\n',
    ])
    const bad = await place.commonplace(['search', 'x', '--limit', '51'])
    expect([bad.code, bad.stderr]).toEqual([64, '--limit must be at most 50.\n'])
    const key = (await place.commonplace(['keys', 'create', '--user', 'ada', '--name', 'k'])).stdout.trim()
    const { url } = await place.serveHere()
    const remote = createPlace()
    const env = { PROMPTS_API_KEY: key }
    const keyless = await remote.commonplace(['save-prompt', '--title', 'x', '--content', 'y', '--url', url])
    expect([keyless.code, keyless.stderr]).toEqual([77, 'save-prompt needs an API key: set PROMPTS_API_KEY.\n'])
    expect(JSON.parse((await remote.commonplace(['whoami', '--url', url], { env })).stdout)).toMatchObject({
      username: 'ada',
      key: { name: 'k' },
    })
    const far = await remote.commonplace(['get-prompt', 'walrus', '--variables', '{"x":"a/b?"}', '--url', url], { env })
    expect(JSON.parse(far.stdout).content).toBe('From a file: a/b?')
    const reader = (await place.commonplace(['keys', 'create', '--user', 'ada', '--name', 'r', '--scopes', 'read'])).stdout.trim()
    const refused = await remote.commonplace(['delete', 'prompts', 'walrus', '--url', url], { env: { PROMPTS_API_KEY: reader } })
    expect(refused.stderr).toMatch(/^delete needs the "write" scope/)
    const gone = await remote.commonplace(['delete', 'prompts', 'walrus', '--url', url], { env })
    expect(JSON.parse(gone.stdout).success).toBe(true)
    expect((await remote.commonplace(['get-prompt', 'walrus', '--url', url], { env })).code).toBe(66)
    await remote.remove()
  })
})

describe('completion', () => {
  /** Completes `commonplace users ro` by the script, in the shell itself. */
  const SHELLS: Readonly<Record<string, string>> = {
    bash: 'eval "$(commonplace completion bash)"; COMP_WORDS=(commonplace users ro); COMP_CWORD=2; _commonplace commonplace; echo "${COMPREPLY[@]}"',
    zsh: 'compdef() { :; }; _describe() { print -r -- ${(P)2}; }; eval "$(commonplace completion zsh)"; words=(commonplace users ro); CURRENT=3; _commonplace',
    fish: 'commonplace completion fish | source; complete -C "commonplace users ro"',
  }
  it.for(Object.entries(SHELLS))('works in %s', async ([shell, script], { skip }) => {
    const path = (process.env['PATH'] ?? '').split(':')
    if (!path.some((folder) => existsSync(join(folder, shell)))) skip(`There is no ${shell} here.`)
    writeFileSync(join(place.folder, 'commonplace'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 })
    const env = { ...place.env, PATH: [place.folder, ...path].join(':') }
    const { code, stdout, stderr } = await run(shell, ['-c', script], { env })
    expect([code, stderr, stdout]).toEqual([0, '', expect.stringMatching(/^role(\W.*)?\n$/)])
  })
})
