import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { exportLibrary, importLibrary } from '../../src/transfer/library-folder.ts'
import { type TestApp, testApp } from '../support/test-app.ts'

const OPTIONS = { owner: undefined, visibility: undefined }

let folder = ''
let from: TestApp
let to: TestApp
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'commonplace-library-'))
  from = await testApp()
  to = await testApp()
})
afterEach(async () => {
  await from.close()
  await to.close()
  await rm(folder, { recursive: true })
})

it('brings every text and file back as it was, under its address', async () => {
  const { actor } = await from.user('ann')
  const content = ' \ufeffa\r\nb\u2028c\u2029d\u0085e 😀 ${x:{}} '
  const saved = await from.call(actor, 'save_prompt', { title: 'T', content, visibility: 'unlisted' })
  const bytes = Buffer.from([0xff, 0, 0x0d])
  const files = [
    { filename: 'SKILL.md', content: '\ufeff---\r\nname: s\r\n---\r\n' },
    { filename: 'a/b.bin', content: bytes.toString('base64'), encoding: 'base64' },
  ]
  await from.call(actor, 'save_skill', { title: 'S', files })
  await exportLibrary(from.app.store.transfer, join(folder, 'out'), null)
  const { report } = await importLibrary(to.app.store, join(folder, 'out'), OPTIONS)
  expect(report).toMatchObject({ read: 2, created: 2, refused: 0 })

  const reader = (await to.user('ann')).actor
  const { id } = z.object({ id: z.string() }).parse(saved['prompt'])
  expect(await to.call(reader, 'get_prompt', { id })).toMatchObject({ content, visibility: 'unlisted', author: 'ann' })
  const found = await to.call(reader, 'search_skills', { query: '' })
  const [skill] = z.array(z.object({ id: z.string() })).parse(found['skills'])
  expect(await to.call(reader, 'get_skill', { id: skill?.id })).toMatchObject({ title: 'S', visibility: 'private', files })
})

it.each(['prompts.jsonl', 'prompts.json', 'prompts.csv', 'skills.json', 'skills'])(
  'reads nothing through a link called %s',
  async (name) => {
    const outside = join(folder, 'outside')
    await mkdir(join(outside, 'skills/s'), { recursive: true })
    await writeFile(join(outside, 'prompts.jsonl'), '{"title":"secret","content":"secret","owner":"ann"}\n')
    await writeFile(join(outside, 'prompts.json'), '[{"title":"secret","content":"secret","owner":"ann"}]')
    await writeFile(join(outside, 'prompts.csv'), 'title,content,owner\nsecret,secret,ann\n')
    await writeFile(join(outside, 'skills.json'), '[{"folder":"s","owner":"ann"}]')
    await writeFile(join(outside, 'skills/s/SKILL.md'), 'secret')
    const library = join(folder, 'library')
    await mkdir(library)
    if (name === 'skills') await writeFile(join(library, 'skills.json'), '[{"folder":"s","owner":"ann"}]')
    if (name === 'skills.json') {
      await mkdir(join(library, 'skills/s'), { recursive: true })
      await writeFile(join(library, 'skills/s/SKILL.md'), 'mine')
    }
    await symlink(join(outside, name), join(library, name))
    await expect(importLibrary(to.app.store, library, OPTIONS)).rejects.toMatchObject({ code: 'invalid_input' })
    expect(await to.app.store.service.isEmpty()).toBe(true)
  },
)
