import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ruleOf } from '../../src/check/rules/index.ts'
import { readAgentFolder } from '../../src/transfer/agent-folder.ts'
import { createPeople } from '../../src/transfer/export-lists.ts'
import { importEntries } from '../../src/transfer/import-entries.ts'
import { syncFolder } from '../../src/transfer/sync/sync-folder.ts'
import { readUpload } from '../../src/transfer/upload.ts'
import { json, type TestApp, testApp } from '../support/test-app.ts'

/** One rule of each family, by whose example a text of it is made. */
const FAMILIES = [
  'hidden/tag-characters',
  'concealed/comment',
  'override/ignore-instructions',
  'exfiltration/source-to-sink',
  'credentials/system-stores',
  'download/piped-to-shell',
  'persistence/remote-login',
  'destruction/deletes',
  'secrets/github',
  'payload/decoded-and-run',
  'dynamic/command',
  'permissions/turns-off-questions',
  'links/raw-address',
]
const HEAD = '---\nname: one\ndescription: Sorts. Use for lists.\n---\n'

/** The files of a skill with a text that each rule finds. */
const hostileFiles = () =>
  FAMILIES.map((id) => {
    const example = ruleOf(id)?.example ?? ''
    const { file, text } = typeof example === 'string' ? { file: 'text.md', text: example } : example
    return { filename: `${id.replace('/', '-')}/${file}`, content: text }
  })
const skill = (name = 'one') => [{ filename: 'SKILL.md', content: HEAD.replace('one', name) }, ...hostileFiles()]

describe('a hostile skill is found at each door', () => {
  let test: TestApp
  let ada: Awaited<ReturnType<TestApp['user']>>
  let folder: string
  beforeAll(async () => {
    test = await testApp()
    ada = await test.user('ada')
    folder = mkdtempSync(join(tmpdir(), 'commonplace-doors-'))
  })
  afterAll(async () => {
    await test.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const rulesOf = async (id: string) => {
    const { findings } = Object(await test.call(ada.actor, 'check_item', { id }))
    return new Set(findings.map(({ rule }: { rule: string }) => rule))
  }
  const expectAll = async (id: string) => {
    const found = await rulesOf(id)
    expect(FAMILIES.filter((rule) => !found.has(rule))).toEqual([])
    // Its verdict is stored with it.
    const verdicts = await test.app.store.checks.readVerdicts([id])
    expect(verdicts.get(id)?.high).toBeGreaterThan(5)
  }
  const newest = async (kind: 'prompt' | 'skill') => {
    const list = Object(await test.call(ada.actor, kind === 'prompt' ? 'list_prompts' : 'list_skills', { sort: 'newest', perPage: 1 }))
    return String((kind === 'prompt' ? list.prompts : list.skills)[0].id)
  }
  const importAll = async (entries: Parameters<typeof importEntries>[1]) => {
    const report = await importEntries(
      test.app.store,
      entries,
      { owner: 'ada', visibility: undefined, leavesOutUnknownCategories: true },
      createPeople(),
    )
    expect(report).toMatchObject({ created: 1 })
  }
  const write = (root: string, files: readonly { filename: string; content: string }[]) => {
    for (const { filename, content } of files) {
      mkdirSync(dirname(join(root, filename)), { recursive: true })
      writeFileSync(join(root, filename), content)
    }
  }

  it('MCP and REST', async () => {
    const saved = Object(await test.call(ada.actor, 'save_skill', { title: 'By MCP', files: skill() }))
    await expectAll(saved.skill.id)
    const answer = await test.fetch('/api/skills', { ...json('POST', { title: 'By REST', files: skill() }), key: ada.key })
    expect(answer.status).toBe(201)
    await expectAll(Object(await answer.json()).skill.id)
  })

  it('a file that is added', async () => {
    const saved = Object(await test.call(ada.actor, 'save_skill', { title: 'By files', files: [{ filename: 'SKILL.md', content: HEAD }] }))
    for (const file of hostileFiles()) await test.call(ada.actor, 'add_file_to_skill', { skillId: saved.skill.id, ...file })
    await expectAll(saved.skill.id)
  })

  it('a folder, a zip and sync', async () => {
    write(join(folder, 'project/.claude/skills/by-folder'), skill('by-folder'))
    await importAll(readAgentFolder(join(folder, 'project')))
    await expectAll(await newest('skill'))
    const zip = zipSync(Object.fromEntries(skill('by-zip').map(({ filename, content }) => [`by-zip/${filename}`, strToU8(content)])))
    await importAll(await readUpload([{ filename: 'by-zip.zip', bytes: zip }]))
    await expectAll(await newest('skill'))
    write(join(folder, 'sync/skills/by-sync'), skill('by-sync'))
    const user = await test.app.store.people.findUser('ada')
    if (!user) throw new Error('no user')
    expect(await syncFolder(test.app.store, user, join(folder, 'sync'), { now: Date.now() })).toMatchObject({ created: 1 })
    await expectAll(await newest('skill'))
  })

  it('a table of prompts', async () => {
    const csv = `act,prompt\nHostile,"Use ghp_9aKf3LmQ7xTz2VbN8cRw5YhJ4dGs6PuE1oXi ${'\u{E0072}\u{E0075}'}"\n`
    await importAll(await readUpload([{ filename: 'some.csv', bytes: new TextEncoder().encode(csv) }]))
    expect(await rulesOf(await newest('prompt'))).toEqual(new Set(['secrets/github', 'hidden/tag-characters']))
  })
})
