import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { User } from '../../src/library/items.ts'
import { syncFolder } from '../../src/transfer/sync/sync-folder.ts'
import type { SyncReport } from '../../src/transfer/sync/sync-run.ts'
import { readSyncedPrompt } from '../../src/transfer/sync/synced-prompt.ts'
import { type TestApp, testApp } from '../support/test-app.ts'

const EDITS = 500
/** Few names, so that both folders and the library often mean the same. */
const NAMES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']
/** Enough to settle: each folder takes what the other one gave to the library. */
const QUIET_ROUNDS = 6

const edits = fc.array(
  fc.record({
    do: fc.oneof(
      { weight: 6, arbitrary: fc.constant('edit-file' as const) },
      { weight: 3, arbitrary: fc.constant('create-file' as const) },
      { weight: 3, arbitrary: fc.constant('edit-skill' as const) },
      { weight: 2, arbitrary: fc.constant('rename-file' as const) },
      { weight: 1, arbitrary: fc.constant('delete-file' as const) },
      { weight: 6, arbitrary: fc.constant('edit-item' as const) },
      { weight: 2, arbitrary: fc.constant('edit-library-skill' as const) },
      { weight: 2, arbitrary: fc.constant('create-item' as const) },
      { weight: 1, arbitrary: fc.constant('delete-item' as const) },
      { weight: 4, arbitrary: fc.constant('edit-both' as const) },
    ),
    side: fc.nat(1),
    pick: fc.nat(1_000),
    syncs: fc.constantFrom([], [], [0], [1], [0, 1]),
  }),
  { minLength: EDITS, maxLength: EDITS },
)

type Edit = typeof edits extends fc.Arbitrary<(infer One)[]> ? One : never

const isText = (name: string) => !name.includes('.conflict-')

function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile())
}

function listPrompts(root: string): string[] {
  return listFiles(join(root, 'prompts'))
    .filter(isText)
    .map((name) => `prompts/${name}`)
    .toSorted()
}

/** Everything that somebody can still find: the library with all versions, and both folders with the copies of conflicts. */
async function readAll(test: TestApp, roots: readonly string[]): Promise<string> {
  const blobs = await Array.fromAsync(test.app.store.transfer.exportBlobs())
  const files = roots.flatMap((root) => listFiles(root).map((name) => readFileSync(join(root, name), 'utf8')))
  return [await test.readEverything(), ...blobs.map(({ bytes }) => Buffer.from(bytes).toString('utf8')), ...files].join('\n')
}

async function runStorm(test: TestApp, user: User, roots: readonly [string, string], storm: readonly Edit[]) {
  const { store } = test.app
  const editor = { userId: user.id, note: null }
  const written = new Set<string>()
  let made = 0
  const token = () => {
    const text = `token-${made++}-of-the-storm`
    written.add(text)
    return text
  }
  const pickFrom = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)]
  const append = (path: string) => writeFileSync(path, `${readFileSync(path, 'utf8')}\n${token()}`)
  const prompts = async () => (await store.transfer.exportPrompts(user.id, 0, 500)).map(({ prompt }) => prompt)
  const editItem = async (id: string) => {
    const text = token()
    await store.items.changePrompt(id, editor, (current) => ({ content: `${current.content}\n${text}` }))
  }
  for (const { do: what, side, pick, syncs } of storm) {
    const root = roots[side === 0 ? 0 : 1]
    const file = pickFrom(listPrompts(root), pick)
    const name = pickFrom(NAMES, pick) ?? 'one'
    const item = pickFrom(await prompts(), pick)
    if (what === 'edit-file' && file) append(join(root, file))
    if (what === 'create-file' && !existsSync(join(root, `prompts/${name}.md`))) {
      mkdirSync(join(root, 'prompts'), { recursive: true })
      writeFileSync(join(root, `prompts/${name}.md`), `---\ntitle: ${name}\n---\n\n${token()}`)
    }
    if (what === 'edit-skill') {
      const path = join(root, 'skills', name)
      mkdirSync(path, { recursive: true })
      if (!existsSync(join(path, 'SKILL.md'))) writeFileSync(join(path, 'SKILL.md'), `---\nname: ${name}\ndescription: d\n---\n`)
      const target = join(path, pick % 2 === 0 ? 'SKILL.md' : `file-${pick % 3}.txt`)
      if (!existsSync(target)) writeFileSync(target, '')
      append(target)
    }
    if (what === 'rename-file' && file && !existsSync(join(root, `prompts/${name}-renamed.md`))) {
      renameSync(join(root, file), join(root, `prompts/${name}-renamed.md`))
    }
    if (what === 'delete-file' && file) {
      const lost = [...readFileSync(join(root, file), 'utf8').matchAll(/token-\d+-of-the-storm/g)].map(([text]) => text)
      rmSync(join(root, file))
      const rest = await readAll(test, roots)
      // Deleted by its author before anybody synced it.
      for (const text of lost) if (!rest.includes(text)) written.delete(text)
    }
    if (what === 'edit-item' && item) await editItem(item.id)
    if (what === 'edit-library-skill') {
      const skill = pickFrom(await store.transfer.exportSkills(user.id, 0, 100), pick)
      const bytes = Buffer.from(token())
      if (!skill) written.delete(bytes.toString())
      else {
        await store.items.changeSkill(skill.skill.id, editor, () => ({
          files: (files) => [...files.filter((old) => old.filename !== 'of-the-library.txt'), { filename: 'of-the-library.txt', bytes }],
        }))
      }
    }
    if (what === 'create-item') {
      const fields = { title: name, description: null, category: null, tags: [], type: 'TEXT' as const, visibility: 'private' as const }
      await store.items.createPrompt(editor, { ...fields, content: token() })
    }
    if (what === 'delete-item' && item) await store.items.setDeleted('prompt', item.id, user.id, true)
    if (what === 'edit-both' && file) {
      append(join(root, file))
      const row = (await store.syncs.listSynced(user.id, root)).find(({ path }) => path === file)
      if (row) await editItem(row.itemId).catch(() => {})
      const [last] = [...written].slice(-1)
      // The item was in the trash, so nothing was written.
      if (last && !(await readAll(test, roots)).includes(last)) written.delete(last)
    }
    for (const which of syncs) await syncFolder(store, user, roots[which === 0 ? 0 : 1], { now: Date.now() })
  }
  return { written, made }
}

it('loses no text in a storm of edits on all sides, and settles', async () => {
  await fc.assert(
    fc.asyncProperty(edits, async (storm) => {
      const test = await testApp()
      const place = mkdtempSync(join(tmpdir(), 'commonplace-storm-'))
      const roots = [join(place, 'a'), join(place, 'b')] as const
      for (const root of roots) mkdirSync(root)
      try {
        const { store } = test.app
        const user = await store.people.createUser({ username: 'ada', defaultVisibility: 'private' })
        const { written, made } = await runStorm(test, user, roots, storm)
        // Texts that somebody deleted before a sync saw them are not looked for.
        expect(made).toBeGreaterThan(EDITS / 4)
        expect(written.size).toBeGreaterThan(0)
        const last = new Map<string, SyncReport>()
        for (let round = 0; round < QUIET_ROUNDS; round++) {
          for (const root of roots) last.set(root, await syncFolder(store, user, root, { now: Date.now() }))
        }
        expect([...last.values()].flatMap(({ changes }) => changes)).toEqual([])
        const everything = await readAll(test, roots)
        expect([...written].filter((text) => !everything.includes(text))).toEqual([])
        const items = new Map((await store.transfer.exportPrompts(user.id, 0, 500)).map(({ prompt }) => [prompt.id, prompt]))
        const skills = new Map((await store.transfer.exportSkills(user.id, 0, 500)).map(({ skill, files }) => [skill.id, files]))
        expect(items.size).toBeGreaterThan(5)
        let equal = 0
        let refused = 0
        for (const root of roots) {
          const remarks = last.get(root)?.remarks ?? []
          const rows = await store.syncs.listSynced(user.id, root)
          expect([...items.keys(), ...skills.keys()].filter((id) => !rows.some((row) => row.itemId === id))).toEqual([])
          for (const { path, itemId } of rows) {
            const prompt = items.get(itemId)
            if (prompt && existsSync(join(root, path))) {
              const { content } = readSyncedPrompt(path, readFileSync(join(root, path)), prompt)
              // A file that was renamed to the path of a deleted one names another prompt. It stays as it is, and every report says why.
              if (remarks.some((remark) => remark.startsWith(`${path} is not synced: it has the text of another prompt`))) refused++
              else {
                expect(content, path).toBe(prompt.content)
                equal++
              }
            }
            for (const { filename, bytes } of skills.get(itemId) ?? []) {
              expect(readFileSync(join(root, path, filename), 'utf8')).toBe(Buffer.from(bytes).toString('utf8'))
            }
          }
        }
        expect(equal).toBeGreaterThan(refused)
      } finally {
        await test.close()
        rmSync(place, { recursive: true, force: true })
      }
    }),
    { numRuns: 1 },
  )
}, 120_000)
