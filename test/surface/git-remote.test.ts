import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/domain/people/actor.ts'
import { answerWith } from '../../src/server/listen.ts'
import { readTip } from '../support/git-tip.ts'
import { json, readJson, type TestApp, testApp } from '../support/test-app.ts'

const run = promisify(execFile)

function hasGit(): boolean {
  try {
    execFileSync('git', ['--version'])
    return true
  } catch {
    process.stderr.write('test/surface/git-remote.test.ts is skipped: there is no git on this machine.\n')
    return false
  }
}

type User = Extract<Actor, { kind: 'user' }>

describe.skipIf(!hasGit())('the Git remote', () => {
  let test: TestApp
  let server: Server
  let owner: User
  let [url, key, folder, cloned] = ['', '', '', '']
  let count = 0
  const log: string[] = []

  beforeAll(async () => {
    test = await testApp({}, {}, null, {}, { write: (line) => void log.push(line) })
    server = createServer(answerWith(test.pipeline))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    folder = mkdtempSync(join(tmpdir(), 'commonplace-git-'))
    ;({ actor: owner, key } = await test.user('owner'))
    await savePrompt('First prompt', { category: 'writing', tags: ['Ink'], description: 'About ink' })
    await savePrompt('Loose prompt')
    await saveSkill('first-skill')
    cloned = await clone('/library.git')
  })
  afterAll(async () => {
    server?.closeAllConnections()
    server?.close()
    await test?.close()
    if (folder) rmSync(folder, { recursive: true, force: true })
  })
  beforeEach(() => {
    log.length = 0
  })

  /** Runs git with nothing of this machine's settings. */
  async function git(cwd: string, ...args: string[]): Promise<string> {
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: 'true',
    }
    const { stdout, stderr } = await run('git', ['-c', 'transfer.fsckObjects=true', ...args], { cwd, env })
    return stdout.trim() || stderr.trim()
  }
  const fresh = () => join(folder, `clone-${count++}`)
  async function clone(path: string, ...args: string[]): Promise<string> {
    const into = fresh()
    await git(folder, 'clone', '-q', ...args, path.startsWith('http') ? path : `${url}${path}`, into)
    await git(into, 'fsck', '--full', '--strict')
    return into
  }
  const head = async (at: string) => await git(at, 'rev-parse', 'HEAD')
  const subjects = async (at: string) => (await git(at, 'log', '--format=%s')).split('\n')
  const files = async (at: string) => (await git(at, 'ls-files')).split('\n')
  const read = (at: string, path: string) => readFileSync(join(at, path), 'utf8')

  async function savePrompt(title: string, fields: Record<string, unknown> = {}, actor = owner): Promise<{ id: string; slug: string }> {
    return Object(
      (await test.call(actor, 'save_prompt', { title, content: `The text of ${title}`, visibility: 'public', ...fields })).prompt,
    )
  }
  const skillMd = (name: string, more = '') => `---\nname: ${name}\ndescription: About ${name}\n---\n\n# ${name}\n${more}`
  async function saveSkill(name: string, fields: Record<string, unknown> = {}, actor = owner): Promise<{ id: string; slug: string }> {
    const given = [
      { filename: 'SKILL.md', content: skillMd(name) },
      { filename: 'scripts/run.sh', content: `echo ${name}\n` },
    ]
    return Object((await test.call(actor, 'save_skill', { title: name, visibility: 'public', files: given, ...fields })).skill)
  }
  const edit = (id: string, change: Record<string, unknown>) => test.call(owner, 'update_prompt', { id, ...change })
  const basic = (password: string) => url.replace('://', `://git:${password}@`)

  it('has a commit of a change of tags, by the service and without the note of the text', async () => {
    const { actor: mate } = await test.user('mate')
    await test.call(owner, 'create_team', { team: 'crew' })
    await test.call(owner, 'set_team_member', { team: 'crew', username: 'mate', role: 'editor' })
    const { id } = await savePrompt('Tagged', { tags: ['before'], owner: 'crew' })
    await edit(id, { content: 'Another text.', note: 'A note.' })
    const at = await clone('/library.git')
    const then = await head(at)
    await test.call(mate, 'update_prompt', { id, tags: ['after'] })
    await git(at, 'pull', '-q', '--ff-only')
    expect(await git(at, 'log', '--format=%an: %B', `${then}~1..`)).toBe('commonplace: Update tagged\n\nowner: Update tagged\n\nA note.')
    expect(read(at, 'prompts/uncategorised/tagged.md')).toContain('tags:\n  - after\n')
    expect(await git(at, 'show', `${then}:prompts/uncategorised/tagged.md`)).toContain('tags:\n  - before\n')
    await edit(id, { content: 'A third text.' })
    await git(at, 'pull', '-q', '--ff-only')
    await test.call(owner, 'delete_item', { collection: 'prompts', id })
  })

  it('is cloned, with prompts as Markdown and skills as plugins', async () => {
    expect(await files(cloned)).toEqual([
      '.agents/plugins/marketplace.json',
      '.claude-plugin/marketplace.json',
      '.cursor-plugin/marketplace.json',
      'README.md',
      'plugins/first-skill/.claude-plugin/plugin.json',
      'plugins/first-skill/skills/first-skill/SKILL.md',
      'plugins/first-skill/skills/first-skill/scripts/run.sh',
      'prompts/uncategorised/loose-prompt.md',
      'prompts/writing/first-prompt.md',
    ])
    expect(read(cloned, 'prompts/writing/first-prompt.md')).toBe(
      '---\nname: first-prompt\ntitle: First prompt\ndescription: About ink\ntype: TEXT\nauthor: owner\ncategory: writing\ntags:\n  - Ink\n---\n\nThe text of First prompt',
    )
    expect(read(cloned, 'plugins/first-skill/skills/first-skill/SKILL.md')).toBe(skillMd('first-skill'))
    expect(JSON.parse(read(cloned, 'plugins/first-skill/.claude-plugin/plugin.json'))).toEqual({
      name: 'first-skill',
      description: 'About first-skill',
    })
    expect(JSON.parse(read(cloned, '.claude-plugin/marketplace.json'))).toEqual({
      name: '127-0-0-1',
      owner: { name: 'commonplace' },
      metadata: { description: 'Skills of Commonplace at 127.0.0.1:3000' },
      plugins: [{ name: 'first-skill', source: './plugins/first-skill', description: 'About first-skill' }],
    })
    expect(await git(cloned, 'log', '--format=%an <%ae>', '-1')).toBe('owner <owner@127.0.0.1>')
    expect(await subjects(cloned)).toEqual(['Add first-skill', 'Add loose-prompt', 'Add first-prompt'])
  })

  it('names the marketplace for whom it is, so that a client can have several of one host', async () => {
    await saveSkill('for-several', { tags: ['several'] })
    const link = new URL(String((await test.call(owner, 'create_install_link', { name: 'l', scope: '/tags/several' })).url)).pathname
    const named = [
      ['/tags/several', '127-0-0-1-tags-several', {}],
      ['/private/tags/several', '127-0-0-1-tags-several-private', { key }],
      [link, expect.stringMatching(/^127-0-0-1-tags-several-link-[0-9a-f]{4}$/), {}],
    ] as const
    for (const [path, name, options] of named) {
      const market = await readJson(await test.fetch(`${path}/marketplace.json`, options))
      expect(market.name, path).toEqual(name)
      const at = await clone(`${'key' in options ? basic(key) : url}${path}.git`)
      expect(JSON.parse(read(at, '.claude-plugin/marketplace.json')).name, path).toBe(market.name)
    }
  })

  it('clones a collection with nothing in it yet, and none that one may not see', async () => {
    for (const [title, visibility] of [
      ['Filled later', 'public'],
      ['Hidden and empty', 'private'],
    ] as const) {
      const { slug } = Object((await test.call(owner, 'create_collection', { title, visibility })).collection)
      const cloned = git(folder, 'clone', '-q', `${url}/collections/${slug}.git`, fresh())
      if (visibility === 'public') await cloned
      else await expect(cloned).rejects.toThrow()
    }
  })

  it('answers at its addresses, with and without an ending', async () => {
    const { id } = await savePrompt('Addressed', { tags: ['addressed'], category: 'coding' })
    const whole = await head(await clone('/'))
    expect(await head(await clone('/library.git'))).toBe(whole)
    for (const path of [
      '/tags/addressed',
      '/tags/addressed.git',
      '/@owner.git',
      '/users/owner',
      '/categories/coding.git',
      `/prompts/${id}.git`,
    ]) {
      expect(await files(await clone(path)), path).toContain('prompts/coding/addressed.md')
    }
    expect(await files(await clone('/tags/addressed.git'))).not.toContain('prompts/writing/first-prompt.md')
    for (const path of ['/tags/none.git', '/@nobody.git', '/prompts/none.git', '/.git', '/nowhere.git', '/@owner@first-skill']) {
      expect((await test.fetch(`${path}/info/refs?service=git-upload-pack`)).status, path).toBe(404)
    }
    expect((await test.fetch('/info/refs')).status).toBe(400)
    expect((await test.fetch('/info/refs?service=git-receive-pack')).status).toBe(403)
    await expect(git(await clone('/library.git'), 'push', '-q', 'origin', 'HEAD:other')).rejects.toThrow(/403/)
  })

  it('has the same commits whenever it is cloned, and shows an edit as that edit', async () => {
    const { id } = await savePrompt('Edited later', { content: 'one\ntwo\nthree\n' })
    const before = await clone('/library.git')
    test.wait(3_600_000)
    expect(await head(await clone('/library.git'))).toBe(await head(before))
    const old = await head(before)
    await edit(id, { content: 'one\n2\nthree\n', note: 'Write a numeral' })
    await git(before, 'pull', '-q', '--ff-only')
    expect(await git(before, 'diff', '--stat', '--format=', old, 'HEAD')).toMatch(
      /^prompts\/uncategorised\/edited-later\.md \| 2 \+-\n 1 file changed/,
    )
    expect(await git(before, 'log', '-1', '--format=%B')).toBe('Update edited-later\n\nWrite a numeral')
    expect(await git(before, 'rev-list', '--count', `${old}..HEAD`)).toBe('1')
    await git(before, 'fsck', '--full', '--strict')
    expect(await head(await clone('/library.git'))).toBe(await head(before))
    // Votes change no text.
    await test.call((await test.user('voter')).actor, 'vote', { collection: 'prompts', id })
    expect(await head(await clone('/library.git'))).toBe(await head(before))
  })

  it('is the same in a process that has just started', async () => {
    const again = await test.reopen()
    expect(await readTip(again.fetch, '')).toBe(await readTip(test.fetch, ''))
    await again.close()
  })

  it('names renamed and moved files at the end of the history', async () => {
    const { id } = await savePrompt('Wandering')
    const at = await clone('/library.git')
    const old = await head(at)
    await edit(id, { slug: 'wandered', category: 'writing' })
    await git(at, 'pull', '-q', '--ff-only')
    expect(await git(at, 'diff', '--name-status', '-M10', old, 'HEAD')).toMatch(
      /^R\d+\tprompts\/uncategorised\/wandering\.md\tprompts\/writing\/wandered\.md$/,
    )
    await test.call(admin(), 'create_category', { slug: 'merged-away', name: 'Merged away' })
    await edit(id, { category: 'merged-away' })
    await test.call(admin(), 'merge_category', { slug: 'merged-away', into: 'coding' })
    await git(at, 'pull', '-q', '--ff-only')
    expect((await files(at)).filter((path) => path.endsWith('wandered.md'))).toEqual(['prompts/coding/wandered.md'])
    expect(await head(await clone('/'))).toBe(await head(at))
  })

  it('gives shallow clones, deepens them, and lets them pull', async () => {
    const { id } = await savePrompt('Deep', { content: 'depth 0' })
    for (let n = 1; n < 5; n++) await edit(id, { content: `depth ${n}` })
    const at = await clone('/library.git', '--depth', '1')
    expect(await git(at, 'rev-list', '--count', 'HEAD')).toBe('1')
    expect(await files(at)).toContain('README.md')
    await edit(id, { content: 'depth for a pull' })
    // Back to a text that the clone does not have.
    await edit(id, { content: 'depth 1' })
    await git(at, 'pull', '-q', '--ff-only')
    expect(read(at, 'prompts/uncategorised/deep.md')).toMatch(/depth 1$/)
    expect(await git(at, 'rev-list', '--count', 'HEAD')).toBe('3')
    await git(at, 'fetch', '-q', '--depth', '5')
    expect(await git(at, 'rev-list', '--count', 'HEAD')).toBe('5')
    await git(at, 'fetch', '-q', '--depth', '7')
    expect(await git(at, 'rev-list', '--count', 'HEAD')).toBe('7')
    await expect(git(at, 'fetch', '-q', '--deepen', '2')).rejects.toThrow()
    await git(at, 'fsck', '--full', '--strict')
    await git(at, 'fetch', '-q', '--unshallow')
    expect(await git(at, 'rev-list', '--count', 'HEAD')).toBe(await git(await clone('/library.git'), 'rev-list', '--count', 'HEAD'))
    await git(at, 'fsck', '--full', '--strict')
    const old = git(folder, 'clone', '-q', '-c', 'protocol.version=0', `${url}/library.git`, fresh())
    await expect(old).rejects.toThrow(/remote error: This remote only supports protocol version 2/)
  })

  it('holds nothing any more of what is withdrawn', async () => {
    for (const withdraw of [
      (id: string) => edit(id, { visibility: 'private' }),
      (id: string) => test.call(owner, 'delete_item', { collection: 'prompts', id }),
      (id: string) => test.call(admin(), 'set_held', { collection: 'prompts', id, isHeld: true }),
    ]) {
      const { id, slug } = await savePrompt('Withdrawn', { content: 'canary withdrawn text' })
      const path = `prompts/uncategorised/${slug}.md`
      const at = await clone('/library.git')
      const [commit, blob] = [await head(at), await git(at, 'rev-parse', `HEAD:${path}`)]
      await savePrompt('Published after it')
      await withdraw(id)
      const after = await clone('/library.git')
      expect(await files(after)).not.toContain(path)
      expect(await git(after, 'log', '--all', '--format=%B', '--', path)).toBe('')
      expect(await git(after, 'grep', '-c', 'canary withdrawn', 'HEAD').catch(() => 'none')).toBe('none')
      for (const id of [commit, blob]) expect(await want(id)).toContain(`ERR upload-pack: not our ref ${id}`)
      // What stands before it is the same.
      await git(after, 'merge-base', '--is-ancestor', await git(at, 'rev-parse', `${commit}~1`), 'HEAD')
      // The forced update, as the documents say.
      await expect(git(at, 'pull', '-q', '--ff-only')).rejects.toThrow()
      await git(at, 'fetch', '-q')
      await git(at, 'reset', '-q', '--hard', 'origin/main')
      expect(await head(at)).toBe(await head(after))
      expect(existsSync(join(at, path))).toBe(false)
    }
  })

  it('lets an item that comes back in at the end, with the text it has then', async () => {
    const { id } = await savePrompt('Returning', { content: 'before' })
    await savePrompt('In between')
    await edit(id, { visibility: 'private', content: 'while private' })
    const at = await clone('/library.git')
    await edit(id, { visibility: 'public' })
    await git(at, 'pull', '-q', '--ff-only')
    expect(await subjects(at)).toEqual(expect.arrayContaining(['Add returning']))
    expect((await subjects(at))[0]).toBe('Add returning')
    expect((await subjects(at)).filter((subject) => subject.endsWith(' returning'))).toHaveLength(1)
    expect(await git(at, 'log', '-p', '--format=')).not.toContain('\n+before')
  })

  it('rewrites what a purged version showed', async () => {
    const { id } = await savePrompt('Purged in part', { content: 'purged canary' })
    await edit(id, { content: 'kept' })
    const at = await clone('/library.git')
    expect(await git(at, 'log', '-p', '--format=')).toContain('purged canary')
    await test.call({ ...owner, scopes: new Set([...owner.scopes, 'account' as const]) }, 'purge_versions', {
      collection: 'prompts',
      id,
      first: 1,
      last: 1,
    })
    expect(await git(await clone('/library.git'), 'log', '-p', '--format=')).not.toContain('purged canary')
  })

  it('rewrites what a file showed that is purged from older versions', async () => {
    const { id } = await saveSkill('purged-file')
    await test.call(owner, 'update_skill_file', { skillId: id, filename: 'scripts/run.sh', content: 'purged file canary' })
    await test.call(owner, 'update_skill_file', { skillId: id, filename: 'scripts/run.sh', content: 'kept' })
    const at = await clone('/library.git')
    const old = await head(at)
    expect(await git(at, 'log', '-p', '--format=')).toContain('purged file canary')
    const person = { ...owner, scopes: new Set([...owner.scopes, 'account' as const]) }
    await test.call(person, 'purge_file', { id, filename: 'scripts/run.sh' })
    const after = await clone('/library.git')
    expect(await git(after, 'log', '-p', '--format=')).not.toContain('purged file canary')
    expect(await want(old)).toContain('not our ref')
  })

  it('keeps private items, versions and notes to their owners', async () => {
    await savePrompt('Private one', { visibility: 'private', content: 'canary private text' })
    const { id } = await savePrompt('Was private', { visibility: 'private', content: 'canary earlier text', note: 'canary earlier note' })
    await edit(id, { content: 'text for all', visibility: 'public' })
    const other = (await test.user('other')).key
    for (const path of ['/library.git', `${basic(other)}/private/library.git`, `/prompts/${id}.git`, '/@owner.git']) {
      expect(await git(await clone(path), 'log', '-p', '--format=%B%an%ae'), path).not.toContain('canary')
    }
    const mine = await git(await clone(`${basic(key)}/private/library.git`), 'log', '-p', '--format=%B%an%ae')
    expect(mine).toContain('canary private text')
    expect(mine).toContain('canary earlier text')
    expect(mine).toContain('canary earlier note')
    // Basic is asked for there, and only there.
    const asked = await test.fetch('/private/library.git/info/refs?service=git-upload-pack')
    expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="commonplace", charset="UTF-8"'])
    await expect(clone(`${basic('cpb_wrong')}/private/library.git`)).rejects.toThrow(/Authentication failed|401/)
    const answer = await test.fetch('/private/info/refs?service=git-upload-pack', { key })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
  })

  it('tells nobody of a private object who asks with its id', async () => {
    await savePrompt('Guessed', { visibility: 'private' })
    const mine = await clone(`${basic(key)}/private/library.git`)
    const ids = [await head(mine), await git(mine, 'rev-parse', 'HEAD^{tree}'), await git(mine, 'rev-parse', 'HEAD:prompts')]
    const never = 'f'.repeat(40)
    const tip = await head(await clone('/library.git'))
    for (const id of ids) {
      expect(await want(id)).toBe((await want(never)).replaceAll(never, id))
      expect(await have(tip, id)).toBe(await have(tip, never))
    }
    expect(await have(tip, tip)).toContain(`ACK ${tip}`)
    // Objects that are no commits of the history are refused as well.
    const tree = await git(await clone('/library.git'), 'rev-parse', 'HEAD^{tree}')
    expect(await want(tree)).toContain('not our ref')
  })

  it('is read by an install link until that is revoked', async () => {
    await saveSkill('linked-skill', { visibility: 'private', tags: ['linked'] })
    const made = await readJson(await test.fetch('/api/install-links', { ...json('POST', { name: 'laptop', scope: '/tags/linked' }), key }))
    const path = new URL(made.url).pathname
    const at = await clone(`${path}.git`)
    expect(await files(at)).toContain('plugins/linked-skill/skills/linked-skill/SKILL.md')
    expect(log.join('')).not.toContain(path.split('/')[2])
    expect(await files(await clone(`${path}/library.git`))).toEqual(await files(at))
    await test.fetch(`/api/install-links/${made.link.id}`, { method: 'DELETE', key })
    await expect(git(at, 'fetch', '-q')).rejects.toThrow(/not found|404/)
  })

  it('gives way to public names, and leaves out broken skills', async () => {
    await saveSkill('shared-name', { title: 'Mine', visibility: 'private' })
    const other = (await test.user('other')).actor
    const mine = await clone(`${basic(key)}/private/library.git`)
    expect(await files(mine)).toContain('plugins/shared-name/.claude-plugin/plugin.json')
    await saveSkill(
      'shared-name',
      { title: 'Theirs', files: [{ filename: 'SKILL.md', content: skillMd('shared-name', 'Theirs.\n') }] },
      other,
    )
    await git(mine, 'pull', '-q', '--ff-only')
    const folders = readdirSync(join(mine, 'plugins')).filter((name) => name.startsWith('shared-name'))
    expect(folders).toEqual(['shared-name', expect.stringMatching(/^shared-name-[0-9a-f]{8}$/)])
    expect(await git(mine, 'log', '-1', '--format=%an', '--', 'plugins/shared-name')).toBe('other')
    await git(mine, 'fsck', '--full', '--strict')
    const { id } = await saveSkill('breaks-later')
    const at = await clone('/library.git')
    await test.call(owner, 'update_skill_file', { skillId: id, filename: 'SKILL.md', content: '# No frontmatter\n' })
    await git(at, 'pull', '-q', '--ff-only')
    expect((await files(at)).filter((path) => path.includes('breaks-later'))).toEqual([])
    expect(read(at, '.claude-plugin/marketplace.json')).not.toContain('breaks-later')
  })

  it('follows a label: its versions in the order of its moves, and only those', async () => {
    const { id } = await saveSkill('labelled-skill')
    const write = (text: string) =>
      test.call(owner, 'update_skill_file', { skillId: id, filename: 'SKILL.md', content: skillMd('labelled-skill', text) })
    const label = (version: number) =>
      test.call(owner, 'set_label', { collection: 'skills', id, label: 'production', version, reason: 'A secret reason.' })
    await write('two')
    await label(1)
    const wellKnown = async (path = '') => await readJson(await test.fetch(`/labels/production${path}/.well-known/agent-skills/index.json`))
    const file = '/labels/production/.well-known/skills/labelled-skill/SKILL.md'
    const first = await wellKnown()
    expect(first.skills.map(({ name }: { name: string }) => name)).toEqual(['labelled-skill'])
    expect(await (await test.fetch(file)).text()).not.toContain('\ntwo')
    expect((await readJson(await test.fetch('/labels/production/marketplace.json'))).plugins).toHaveLength(1)
    expect((await wellKnown('/@owner')).skills).toHaveLength(1)
    const at = await clone('/labels/production.git')
    const skill = () => read(at, 'plugins/labelled-skill/skills/labelled-skill/SKILL.md')
    expect(skill()).not.toContain('\ntwo')
    const { url } = await test.call(owner, 'create_install_link', { name: 'at a label', scope: '/labels/production' })
    const linked = await test.fetch(`${new URL(String(url)).pathname}/.well-known/skills/labelled-skill/SKILL.md`)
    expect(await linked.text()).not.toContain('\ntwo')
    await write('three')
    await test.call(owner, 'add_file_to_skill', { skillId: id, filename: 'new.md', content: 'only in the newest' })
    expect((await test.fetch(file.replace('SKILL.md', 'new.md'))).status).toBe(404)
    await git(at, 'pull', '--ff-only')
    expect(skill()).not.toMatch(/\n(?:two|three)/)
    await label(3)
    await git(at, 'pull', '--ff-only')
    expect(skill()).toContain('\nthree')
    expect(await (await test.fetch(file)).text()).toContain('\nthree')
    expect((await wellKnown()).skills[0].digest).not.toBe(first.skills[0].digest)
    await test.call(owner, 'undo_label', { collection: 'skills', id, label: 'production' })
    await git(at, 'pull', '--ff-only')
    expect(skill()).not.toContain('\nthree')
    // Why it was moved is for those who own it.
    expect(await git(at, 'log', '--format=%B')).not.toContain('secret')
    // The library has the same history as a branch.
    expect(await head(await clone('/library.git', '-b', 'production', '--single-branch'))).toBe(await head(at))
    await test.call(owner, 'remove_label', { collection: 'skills', id, label: 'production' })
    expect((await wellKnown()).skills).toEqual([])
    for (const path of ['/labels/latest/marketplace.json', '/labels/Bad/marketplace.json', '/labels/a/labels/b/marketplace.json'])
      expect((await test.fetch(path)).status, path).toBe(404)
  })

  it('has a branch for each label that the reader sees, which is fetched with main and alone', async () => {
    const long = (text: string) => `${'A line that stays.\n'.repeat(40)}${text}\n`
    const { id } = await savePrompt('Branched', { content: long('one'), tags: ['branched'] })
    const label = (name: string, version: number, of = id) =>
      test.call(owner, 'set_label', { collection: 'prompts', id: of, label: name, version })
    await edit(id, { content: long('two') })
    for (const version of [1, 2]) await label('live', version)
    const path = 'prompts/uncategorised/branched.md'
    const branches = async (scope: string) => (await git(folder, 'ls-remote', '--heads', `${url}${scope}`)).match(/(?<=refs\/heads\/).*/g)
    expect(await git(folder, 'ls-remote', '--symref', `${url}/tags/branched.git`, 'HEAD')).toMatch(/^ref: refs\/heads\/main\tHEAD/)
    expect(await branches('/tags/branched.git')).toEqual(['main', 'live'])
    expect(await branches('/labels/live/tags/branched.git')).toEqual(['live'])
    expect(await branches('/tags/Ink.git')).toEqual(['main'])
    const [both, live] = [await clone('/tags/branched.git'), await clone('/tags/branched.git', '-b', 'live', '--depth', '1')]
    expect([read(both, path), read(live, path)].map((text) => text.includes('two'))).toEqual([true, true])
    await label('live', 1)
    await edit(id, { content: long('three') })
    // Of two versions, each is a delta of the other in one of the histories.
    for (const version of [3, 2]) await label('next', version)
    for (const at of [both, live]) await git(at, 'fetch', '-q')
    await git(live, 'merge', '-q', '--ff-only', '@{u}')
    expect(await git(both, 'show', `origin/main:${path}`)).toContain('three')
    for (const text of [await git(both, 'show', `origin/live:${path}`), read(live, path)]) expect(text).toContain('one')
    await git(live, 'fetch', '-q', '--unshallow')
    await git(both, 'fetch', '-q', '--depth', '1')
    for (const at of [both, live, await clone('/tags/branched.git')]) await git(at, 'fsck', '--full', '--strict')
    expect(await git(both, 'diff', 'origin/main', 'origin/live')).toContain('-three\n+one')
    // A version that was written as a draft is there for its owner alone.
    const draft = await savePrompt('Draft with a label', { visibility: 'private', content: 'canary of a label', tags: ['branched'] })
    await label('draft', 1, draft.id)
    await edit(draft.id, { content: 'For all', visibility: 'public' })
    expect(await branches('/tags/branched.git')).toEqual(['main', 'live', 'next'])
    await expect(clone('/tags/branched.git', '-b', 'draft')).rejects.toThrow('Remote branch draft not found')
    const own = `${basic(key)}/private/tags/branched.git`
    const tip = (await git(folder, 'ls-remote', own, 'refs/heads/draft')).slice(0, 40)
    expect(tip).toMatch(/^[0-9a-f]{40}$/)
    expect(await want(tip)).toContain('not our ref')
    // However many labels there are, the ten that most items have are branches.
    for (let n = 0; n < 12; n++) await label(`z-${n}`, 2)
    expect(await branches('/tags/branched.git')).toHaveLength(11)
    await test.call(owner, 'remove_label', { collection: 'prompts', id, label: 'live' })
    expect(await branches('/tags/branched.git')).not.toContain('live')
    for (const one of [id, draft.id]) await test.call(owner, 'delete_item', { collection: 'prompts', id: one })
  })

  it('leaves out of older skills, at every way out, files that git takes for its own', async () => {
    const hostile = ['.git/config', 'a/.GIT/hooks/post-checkout', '.gitmodules']
    const given = ['SKILL.md', 'one', 'two', 'three', 'kept/.gitignore'].map((filename) => ({
      filename,
      content: skillMd('hostile-files'),
    }))
    const { id } = await saveSkill('hostile-files', { files: given })
    for (const filename of hostile) {
      const files = [
        { filename: 'SKILL.md', content: '#' },
        { filename, content: 'x' },
      ]
      await expect(saveSkill('refused', { files }), filename).rejects.toThrow('Git reads as its own')
    }
    // As an earlier version took them.
    const file = new DatabaseSync(test.libraryFile)
    for (const table of ['skill_file', 'version_file']) {
      for (const [place, name] of ['one', 'two', 'three'].entries()) {
        file.prepare(`update ${table} set filename = ? where filename = ?`).run(hostile[place] ?? '', name)
      }
    }
    file.close()
    const own = ['SKILL.md', 'kept/.gitignore']
    const at = await clone(`/skills/${id}.git`)
    expect((await files(at)).flatMap((path) => path.split('/skills/hostile-files/')[1] ?? [])).toEqual(own)
    for (const path of [`/api/skills/${id}/zip`, `/skills/${id}/.well-known/agent-skills/hostile-files.zip`]) {
      const names = Object.keys(unzipSync(new Uint8Array(await (await test.fetch(path)).arrayBuffer())))
      expect(
        names.map((name) => name.replace('hostile-files/', '')),
        path,
      ).toEqual(own)
    }
    const index = await readJson(await test.fetch(`/skills/${id}/.well-known/skills/index.json`))
    expect(index).toMatchObject({ skills: [{ files: own }] })
    expect(await test.call(owner, 'get_skill', { id })).toMatchObject({ files: own.map((filename) => ({ filename })) })
  })

  it('sends exactly the changed file of a skill', async () => {
    const { id } = await saveSkill('changed-skill')
    const at = await clone('/library.git')
    const old = await head(at)
    await test.call(owner, 'update_skill_file', { skillId: id, filename: 'scripts/run.sh', content: 'echo changed\n' })
    await git(at, 'pull', '-q', '--ff-only')
    expect(await git(at, 'diff', '--name-only', old, 'HEAD')).toBe('plugins/changed-skill/skills/changed-skill/scripts/run.sh')
  })

  it('shows each actor what the visibility rule gives them, in every scope', async () => {
    const states = ['public', 'unlisted', 'private', 'deleted'] as const
    const made: { kind: 'prompt' | 'skill'; state: (typeof states)[number]; id: string; slug: string; marker: string }[] = []
    for (const kind of ['prompt', 'skill'] as const) {
      for (const state of states) {
        const marker = `matrix-${kind}-${state}`
        const fields = { visibility: state === 'deleted' ? 'public' : state, tags: ['matrix'], category: 'coding', note: marker }
        const { id, slug } = kind === 'prompt' ? await savePrompt(marker, fields) : await saveSkill(marker, fields)
        if (state === 'deleted') await test.call(owner, 'delete_item', { collection: `${kind}s`, id })
        made.push({ kind, state, id, slug, marker })
      }
    }
    const other = await test.user('other')
    const readers = [
      { name: 'anonymous', key: null, ownsThem: false },
      { name: 'other', key: other.key, ownsThem: false },
      { name: 'owner', key, ownsThem: true },
      { name: 'owner without read', key: (await test.user('owner', ['write'])).key, ownsThem: false },
    ]
    for (const reader of readers) {
      const from = reader.key === null ? url : basic(reader.key)
      const mayList = (state: string) => state === 'public' || (reader.ownsThem && state !== 'deleted')
      for (const scope of ['/library', '/@owner', '/tags/matrix', '/categories/coding']) {
        const found = await git(await clone(`${from}${reader.key === null ? '' : '/private'}${scope}.git`), 'log', '-p', '--format=%B')
        for (const { state, marker } of made) expect(found.includes(marker), `${reader.name} ${scope} ${marker}`).toBe(mayList(state))
      }
      for (const { kind, state, id, slug } of made) {
        for (const ref of [id, slug]) {
          const isFound = mayList(state) || (state === 'unlisted' && ref === id)
          const path = `${reader.key === null ? '' : '/private'}/${kind}s/${ref}.git/info/refs?service=git-upload-pack`
          const answer = await test.fetch(path, reader.key === null ? {} : { key: reader.key })
          expect(answer.status, `${reader.name} ${kind} ${state} ${ref}`).toBe(isFound ? 200 : 404)
          expect(await answer.text()).not.toContain('matrix')
        }
      }
    }
  })

  it('refuses bad bodies in words', async () => {
    const post = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      (await test.fetch('/git-upload-pack', { method: 'POST', headers: { ...VERSION_2, ...headers }, body })).status
    const never = 'f'.repeat(40)
    for (const body of [
      '',
      'zzzz',
      '0003',
      '00ffcommand=fetch',
      'ffff',
      '0005',
      '0014command=nothing0000',
      '-001',
      '0 14command=ls-refs\n0000',
    ]) {
      expect(await post(body), body).toBe(400)
    }
    for (const line of [
      'want x',
      `want ${never.slice(1)}`,
      `want ${never.toUpperCase()}`,
      'have ../..',
      'deepen -1',
      'deepen 1e9',
      'filter blob:none',
      'deepen-not main',
      'deepen-since 1767225600',
      'deepen-relative',
      'shallow',
    ]) {
      expect(await post(`${pkt('command=fetch')}0001${pkt(line)}0000`), line).toBe(400)
    }
    const idsOf = (word: string) => Array.from({ length: 5_001 }, (_, n) => pkt(`${word} ${n.toString(16).padStart(40, '0')}`)).join('')
    expect(await post(`${pkt('command=fetch')}0001${idsOf('shallow')}0000`)).toBe(400)
    // Of a long list of commits that the client has, the newest count.
    expect(
      await post(`${pkt('command=fetch')}0001${pkt(`want ${await head(await clone('/library.git'))}`)}${idsOf('have')}${pkt('done')}0000`),
    ).toBe(200)
    expect(await post('x'.repeat(1024 * 1024 + 1))).toBe(413)
    expect(await post(new Uint8Array(gzipSync(Buffer.alloc(64 * 1024 * 1024))), { 'content-encoding': 'gzip' })).toBe(413)
    expect(await post('not gzip', { 'content-encoding': 'gzip' })).toBe(400)
    expect(await post('0000', { 'content-encoding': 'br' })).toBe(415)
    expect((await test.fetch('/git-upload-pack')).status).toBe(405)
    const packed = new Uint8Array(gzipSync(`0014command=ls-refs\n0001${pkt('ref-prefix HEAD')}0000`))
    expect(await post(packed, { 'content-encoding': 'gzip' })).toBe(200)
  })

  const VERSION_2 = { 'git-protocol': 'version=2', 'content-type': 'application/x-git-upload-pack-request' }
  const pkt = (text: string) => `${(Buffer.byteLength(text) + 5).toString(16).padStart(4, '0')}${text}\n`
  const ask = async (...lines: string[]) => {
    const body = `${pkt('command=fetch')}0001${lines.map(pkt).join('')}0000`
    return await (await test.fetch('/git-upload-pack', { method: 'POST', headers: VERSION_2, body })).text()
  }
  const want = (id: string) => ask(`want ${id}`, 'done')
  const have = (tip: string, id: string) => ask(`want ${tip}`, `have ${id}`)
  const admin = (): Actor => ({ ...owner, scopes: new Set([...owner.scopes, 'admin' as const]) })
})
