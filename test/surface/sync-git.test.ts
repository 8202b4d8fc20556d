import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import type { LibraryStore } from '../../src/library/ports/store.ts'
import { createStore } from '../../src/storage/store.ts'
import { openAt } from '../support/engines.ts'
import { createPlace, type Finished, type Place } from '../support/processes.ts'

/** More than the calls of Git that a sync makes. */
const MAX_CALLS = 40
/** Calls of Git before the library is written. */
const CALLS_BEFORE = 6
/** Milliseconds after the last call before the library is written. */
const DELAYS = [0, 10, 30, 60, 100, 150]
const EDITED = 6

let place: Place
let store: LibraryStore
let userId: string
let bare: string
let clone: string
let cache: string
let script: string
beforeEach(async () => {
  place = createPlace()
  store = await createStore(openAt(place.databaseUrl), SYSTEM)
  userId = (await store.people.createUser({ username: 'ada', defaultVisibility: 'private' })).id
  ;[bare, clone, cache] = [join(place.folder, 'remote.git'), join(place.folder, 'clone'), join(place.folder, 'cache')]
  execFileSync('git', ['init', '--quiet', '--bare', bare])
  execFileSync('git', ['clone', '--quiet', bare, clone], { stdio: 'pipe' })
  script = join(place.folder, 'bin', 'git')
  mkdirSync(join(place.folder, 'bin'))
})
afterEach(async () => {
  await store.close()
  await place.remove()
})

const git = (...args: string[]) =>
  execFileSync('git', ['-C', clone, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { encoding: 'utf8', stdio: 'pipe' })
const pull = () => git('pull', '--quiet', 'origin', 'HEAD')
const editor = () => ({ userId, note: null })
const prompts = async () => (await store.transfer.exportPrompts(userId, 0, 500)).map(({ prompt }) => prompt)
const save = async (content: string) =>
  await store.items.createPrompt(editor(), {
    ...{ title: content, content, description: null, category: null, tags: [], type: 'TEXT', visibility: 'private' },
  })
const append = (id: string, token: string) =>
  store.items.changePrompt(id, editor(), (current) => ({ content: `${current.content}\n${token}` }))

/** The texts of the remote by path, copies of conflicts included. */
function readRemote(): Map<string, string> {
  pull()
  const names = readdirSync(clone, { recursive: true, encoding: 'utf8' }).filter((name) => /^(?:prompts|skills)\//.test(name))
  return new Map(
    names.filter((name) => statSync(join(clone, name)).isFile()).map((name) => [name, readFileSync(join(clone, name), 'utf8')]),
  )
}

/** Puts a shell script in the place of Git. `"$real" "$@"` runs Git. */
function replaceGit(lines: string): void {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  writeFileSync(script, `#!/bin/sh\nreal=${real}\n${lines}\n`, { mode: 0o755 })
}

const args = (...flags: string[]) => ['sync', bare, '--user', 'ada', '--cache', cache, ...flags]
const scripted = () => ({ env: { PATH: `${join(place.folder, 'bin')}:${process.env['PATH']}` } })
const sync = (...flags: string[]): Promise<Finished> => place.commonplace(args(...flags))

it('loses no text and undoes no deletion, wherever a sync is killed', async () => {
  const written = new Set<string>()
  const deleted = new Set<string>()
  let made = 0
  const token = () => {
    const text = `token-${made++}-of-the-test`
    written.add(text)
    return text
  }
  const doom = (text: string) => {
    written.delete(text)
    deleted.add(text)
  }
  const kept = await Promise.all(Array.from({ length: EDITED }, () => save(token())))
  const skill = await store.items.createSkill(editor(), {
    ...{ title: 'tidy', description: 'd', category: null, tags: [], visibility: 'private' },
    files: [{ filename: 'SKILL.md', bytes: Buffer.from('---\nname: tidy\ndescription: d\n---\n') }],
  })
  let doomed = [await save(token()), await save(token())] as const
  expect((await sync()).code).toBe(0)

  /** Edits some items, some files and some of both; deletes one item and one file; adds one of each. */
  const editBothSides = async (round: number) => {
    const files = readRemote()
    const push = (name: string, text: string) => {
      writeFileSync(join(clone, name), text)
      git('add', name)
    }
    const editFile = (name: string) => push(name, `${files.get(name) ?? ''}\n${token()}`)
    for (const [n, { id, slug }] of kept.entries()) {
      if (n % 3 !== round % 3) await append(id, token())
      if (n % 3 !== (round + 1) % 3) editFile(`prompts/${slug}.md`)
    }
    if (round % 2 === 0) editFile(`skills/${skill.slug}/SKILL.md`)
    if (round % 3 === 0) {
      const bytes = Buffer.from(token())
      await store.items.changeSkill(skill.id, editor(), () => ({ files: (old) => [...old, { filename: `file-${round}.txt`, bytes }] }))
    }
    const [item, file] = doomed
    doom(item.content)
    doom(file.content)
    await store.items.setDeleted('prompt', item.id, userId, true)
    git('rm', '--quiet', `prompts/${file.slug}.md`)
    doomed = [await save(token()), await save(token())]
    push(`prompts/new-${round}.md`, token())
    git('commit', '--quiet', '-m', 'edit')
    git('push', '--quiet', 'origin', 'HEAD')
  }
  const expectEverything = async (when: string) => {
    const files = (await store.transfer.exportSkills(userId, 0, 10)).flatMap((skill) => skill.files)
    const library = [...(await prompts()).map(({ content }) => content), ...files.map(({ bytes }) => Buffer.from(bytes).toString('utf8'))]
    const now = [...library, ...readRemote().values()].join('\n')
    // Not in older versions: a text that went back is lost to its author.
    expect(
      [...written].filter((text) => !new RegExp(`${text}\\b`).test(now)),
      `lost ${when}`,
    ).toEqual([])
    expect(
      [...deleted].filter((text) => new RegExp(`${text}\\b`).test(now)),
      `came back ${when}`,
    ).toEqual([])
  }

  let round = 0
  /** @param isLost whether the clone is lost too, as on another machine. @returns whether the process was killed */
  const killAt = async (kill: string, isLost = round % 2 === 1): Promise<boolean> => {
    await editBothSides(round)
    const count = join(place.folder, 'count')
    writeFileSync(count, '0')
    replaceGit(`n=$(($(cat ${count}) + 1)); echo $n > ${count}\n${kill}`)
    const first = await place.commonplace(args('--delete'), scripted())
    if (isLost) rmSync(cache, { recursive: true, force: true })
    if (round % 4 > 1) await append(kept[round % EDITED]?.id ?? '', token())
    const second = await sync('--delete')
    expect(second.code, `${kill}: ${second.stderr}`).toBe(0)
    await expectEverything(kill)
    round++
    return first.code === null
  }
  const killAtCall = (n: number, isLost: boolean) => killAt(`[ $n = ${n} ] && kill -9 $PPID\nexec "$real" "$@"`, isLost)
  let calls = 0
  while (calls < MAX_CALLS && (await killAtCall(calls + 1, calls % 2 === 1))) calls++
  expect(calls).toBeGreaterThan(10)
  // Once the library is written, each call again with the clone lost where it was kept.
  for (let n = CALLS_BEFORE; n <= calls; n++) expect(await killAtCall(n, n % 2 === 1)).toBe(true)
  for (const verb of ['push', 'push', 'commit', 'reset']) {
    expect(await killAt(`"$real" "$@"; code=$?; case " $* " in *" ${verb} "*) kill -9 $PPID ;; esac; exit $code`)).toBe(true)
  }
  for (const delay of DELAYS) {
    await killAt(`case " $* " in *" check-ignore "*) (sleep ${delay / 1000}; kill -9 $PPID) & ;; esac; exec "$real" "$@"`)
  }
  const last = await sync('--delete')
  expect(last.stdout).toMatch(/^Library: 0 created, 0 updated\. Folder: 0 written\. 0 conflicts, 0 deleted, 0 left, 0 refused\.\n$/)
}, 600_000)

it('refuses a second sync of an address, lets --watch wait, and goes on after a kill', async () => {
  await save('one')
  const pushing = join(place.folder, 'pushing')
  // A push that hangs, until the folder of this test is gone.
  replaceGit(`case " $* " in *" push "*) touch ${pushing}; while [ -e ${pushing} ]; do sleep 0.1; done; exit 1 ;; esac; exec "$real" "$@"`)
  const first = place.start(args(), scripted())
  const waitFor = async (isReached: () => boolean) => {
    for (const endsAt = performance.now() + 30_000; performance.now() < endsAt; await sleep(50)) if (isReached()) return
    throw new Error('This was not reached in 30 seconds.')
  }
  await waitFor(() => existsSync(pushing))
  const second = await sync()
  expect([second.code, second.stdout]).toEqual([75, ''])
  expect(second.stderr).toContain('Another sync of this Git address is running. Wait until it ends, then sync again.')
  // It touches neither the clone nor the library.
  expect((await sync('--dry-run')).code).toBe(0)
  const watching = place.start(args('--watch'))
  let said = ''
  for (const stream of [watching.stdout, watching.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk
    })
  }
  await waitFor(() => said.includes('Waiting until it ends.'))
  first.kill('SIGKILL')
  await once(first, 'exit')
  await waitFor(() => said.includes('1 written'))
  expect([...readRemote().values()].filter((text) => text.endsWith('one'))).toHaveLength(1)
})
