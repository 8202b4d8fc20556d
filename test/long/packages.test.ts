import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import about from '../../package.json' with { type: 'json' }
import { HEAP_FLAGS } from '../../src/cli/start-process.ts'
import { endProcess, untilPrinted } from '../support/children.ts'
import { makeFolder } from '../support/folders.ts'
import { findFreePort } from '../support/postgres-server.ts'

/** What `npm run package` writes, started where there is neither npm nor Node. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** The Node that is installed with the packages, whichever one runs the tests. */
const NODE = join(ROOT, 'node_modules/node/bin/node')
const VERSION = `${about.version}\n`
const NAME = `commonplace-${about.version}-linux-x64`
const SKILL = '---\nname: tidy\ndescription: Tidy a room.\n---\nTidy.\n\n```js\n// why\nconst broom = 1\n```\n'
const isBuiltHere = process.platform === 'linux' && process.arch === 'x64'
if (!isBuiltHere) process.stderr.write('\nSKIPPED: packages are started on linux-x64 alone.\n')

const listed = z.object({ skills: z.array(z.object({ slug: z.string() })) })
const prompts = z.object({ prompts: z.array(z.object({ id: z.string() })) })

describe.skipIf(!isBuiltHere)('packages', () => {
  const folder = makeFolder()
  const home = join(folder, 'home')
  const cache = join(home, '.cache/commonplace')
  const executable = join(folder, 'one', NAME)
  const tree = join(folder, `commonplace-${about.version}`)
  const launcher = join(tree, 'bin/commonplace')
  /** Nothing of the tests' own environment. */
  const bare = { PATH: '/nonexistent', HOME: home }
  const started: ChildProcess[] = []

  /** Runs a program to its end. */
  function run(file: string, args: readonly string[], env: Record<string, string> = bare) {
    const { status, stdout, stderr } = spawnSync(file, args, { env, encoding: 'utf8', timeout: 60_000 })
    return { status, stdout, stderr }
  }
  const contentsOfCache = () => readdirSync(cache).filter((name) => name !== '.lock')
  const unpacked = () => join(cache, contentsOfCache()[0] ?? '')

  beforeAll(async () => {
    mkdirSync(home)
    const build = (out: string) => once(spawn(NODE, [join(ROOT, 'scripts/package.ts'), '--out', join(folder, out)]), 'exit')
    expect(await Promise.all([build('one'), build('other')])).toEqual([
      [0, null],
      [0, null],
    ])
    expect(spawnSync('tar', ['-xzf', `${executable}.tar.gz`, '-C', folder]).status).toBe(0)
  }, 300_000)
  afterEach(async () => {
    for (const child of started.splice(0)) await endProcess(child, 'SIGKILL')
  })

  it('are the same bytes each time, and name no folder of who built them', () => {
    expect(readdirSync(join(folder, 'one')).toSorted()).toEqual([NAME, `${NAME}.tar.gz`])
    for (const name of readdirSync(join(folder, 'one'))) {
      const [one, other] = ['one', 'other'].map((out) => readFileSync(join(folder, out, name)))
      expect(other && one?.equals(other), name).toBe(true)
      for (const place of [ROOT, 'commonplace-package-']) expect(one?.includes(place), `${name} names ${place}`).toBe(false)
    }
    for (const name of readdirSync(tree, { recursive: true, encoding: 'utf8' })) {
      if (statSync(join(tree, name)).isFile()) expect(readFileSync(join(tree, name)).includes(ROOT), name).toBe(false)
    }
  })

  it.each<[string, () => { file: string; args: string[]; env: Record<string, string>; hint: string }]>([
    ['the executable', () => ({ file: executable, args: [], env: bare, hint: executable })],
    ['the tarball', () => ({ file: launcher, args: [], env: { ...bare, NODE }, hint: launcher })],
    [
      'the tarball with Node',
      () => ({ file: NODE, args: [join(tree, 'dist/cli/main.js')], env: bare, hint: `${NODE} ${join(tree, 'dist/cli/main.js')}` }),
    ],
  ])('%s serves, draws, highlights, answers MCP and backs up', { timeout: 120_000 }, async (_name, start) => {
    const { file, args, env, hint } = start()
    const place = mkdtempSync(join(folder, 'place-'))
    const backups = join(place, 'backups')
    mkdirSync(backups)
    mkdirSync(join(place, 'skills/tidy'), { recursive: true })
    writeFileSync(join(place, 'skills/tidy/SKILL.md'), SKILL)
    const port = String(await findFreePort())
    const settings = { ...env, PORT: port, DATABASE_URL: `sqlite:${join(place, 'library.db')}`, LOG_LEVEL: 'warn' }
    const command = (...words: string[]) => run(file, [...args, ...words], settings)

    expect(command('--version')).toEqual({ status: 0, stdout: VERSION, stderr: '' })
    const made = command('users', 'create', 'ada')
    expect(made).toMatchObject({ status: 0, stderr: '' })
    expect(made.stdout).toContain(` with the same DATABASE_URL: ${hint} keys create --user ada `)
    expect(command('import', 'skills', join(place, 'skills'), '--user', 'ada', '--public')).toMatchObject({ status: 0 })
    writeFileSync(join(place, 'prompts.jsonl'), '{"title":"Heron","content":"Write about a heron."}\n')
    expect(command('import', 'prompts', join(place, 'prompts.jsonl'), '--user', 'ada', '--public')).toMatchObject({ status: 0 })

    const service = spawn(file, [...args, 'serve'], { env: { ...settings, BACKUP_DIR: backups } })
    started.push(service)
    let said = ''
    for (const stream of [service.stdout, service.stderr]) stream.on('data', (chunk) => (said += chunk))
    const exited = once(service, 'exit')
    await untilPrinted(service, /Stop with/)
    const url = `http://127.0.0.1:${port}`
    expect((await fetch(`${url}/readyz`)).status).toBe(200)

    const { skills } = listed.parse(await (await fetch(`${url}/api/skills`)).json())
    const page = await (await fetch(`${url}/skills/${skills[0]?.slug}`, { headers: { Accept: 'text/html' } })).text()
    expect(page).toContain('<span class="t-keyword">const</span>')
    for (const path of page.match(/\/static\/[\w./-]+/g) ?? ['none']) expect((await fetch(url + path)).status, path).toBe(200)
    expect((await fetch(`${url}/docs/self-hosting`, { headers: { Accept: 'text/html' } })).status).toBe(200)

    const found = prompts.parse(await (await fetch(`${url}/api/prompts?q=heron`)).json())
    const picture = await fetch(`${url}/api/embed/image/${found.prompts[0]?.id}.png`)
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(
      Buffer.from(await picture.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG')

    const answer = await fetch(`${url}/api/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    expect(await answer.text()).toContain('"name":"search_prompts"')

    expect(command('backup', join(place, 'backup.db'))).toMatchObject({ status: 0 })
    expect(existsSync(join(place, 'backup.db'))).toBe(true)
    // The service makes its own by starting itself.
    await expect.poll(() => readdirSync(backups).some((name) => /^commonplace-\w+\.db$/.test(name)), { timeout: 20_000 }).toBe(true)
    service.kill('SIGTERM')
    expect([await exited, said], said).toMatchObject([[0, null], expect.not.stringMatching(/"level":[56]0|warning/i)])
  })

  it('the executable has the heap flags, and takes NODE_OPTIONS', () => {
    const file = join(folder, 'say-flags.cjs')
    writeFileSync(file, 'process.stderr.write(JSON.stringify(process.execArgv))')
    const { status, stderr } = run(executable, ['--version'], { ...bare, NODE_OPTIONS: `--require=${file}` })
    expect([status, JSON.parse(stderr)]).toEqual([0, HEAP_FLAGS])
  })

  it('several executables that start at once share what one of them unpacks', async () => {
    rmSync(cache, { recursive: true, force: true })
    const codes = await Promise.all(
      Array.from({ length: 4 }, async () => (await once(spawn(executable, ['--version'], { env: bare }), 'exit'))[0]),
    )
    expect([codes, contentsOfCache().length]).toEqual([[0, 0, 0, 0], 1])
    expect(statSync(unpacked()).mode & 0o777).toBe(0o700)
  })

  it('an executable unpacks itself once, and again when something was changed', () => {
    expect(run(executable, ['--version']).stdout).toBe(VERSION)
    const first = statSync(unpacked())
    expect(run(executable, ['--version']).stdout).toBe(VERSION)
    expect(statSync(unpacked())).toMatchObject({ ino: first.ino, ctimeMs: first.ctimeMs })
    const main = join(unpacked(), 'dist/cli/main.js')
    const text = readFileSync(main, 'utf8')
    appendFileSync(main, '\nprocess.stdout.write("evil")\n')
    expect(run(executable, ['--version'])).toEqual({ status: 0, stdout: VERSION, stderr: '' })
    expect(readFileSync(main, 'utf8')).toBe(text)
    expect(contentsOfCache()).toHaveLength(1)
  })

  it('an executable says where it cannot unpack itself', () => {
    const taken = join(folder, 'taken')
    writeFileSync(taken, '')
    const { status, stdout, stderr } = run(executable, ['--version'], { ...bare, COMMONPLACE_CACHE: taken })
    expect([status, stdout]).toEqual([69, ''])
    expect(stderr).toMatch(/^Commonplace cannot unpack itself into .+taken: .+\. Set COMMONPLACE_CACHE to a folder .+\n$/)
  })

  it('the launcher finds a Node that is new enough, or says that there is none', () => {
    const nodes = (name: string, text: string) => {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'node'), text, { mode: 0o755 })
      return join(folder, name)
    }
    const old = nodes('old', '#!/bin/sh\necho v20.1.0\n')
    const path = [old, join(folder, 'none'), dirname(NODE)].join(delimiter)
    expect(run(launcher, ['--version'], { PATH: path })).toEqual({ status: 0, stdout: VERSION, stderr: '' })
    const link = join(folder, 'commonplace')
    symlinkSync(launcher, link)
    expect(run(link, ['--version'], { NODE, PATH: '/usr/bin:/bin' })).toEqual({ status: 0, stdout: VERSION, stderr: '' })
    expect(run(launcher, ['--version'])).toEqual({
      status: 69,
      stdout: '',
      stderr: 'Commonplace needs Node 24 or newer, and there is none in PATH. Install it, or set NODE to its path.\n',
    })
    expect(run(launcher, ['--version'], { PATH: old }).stderr).toContain(`in PATH. ${old}/node is 20.1.0. Install it`)
    expect(run(launcher, ['--version'], { PATH: dirname(NODE), NODE: `${old}/node` }).stderr).toContain(
      `NODE is ${old}/node, which is 20.1.0.`,
    )
  })
})
