import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadPreparedVectors } from '../../src/ai/kept-vectors.ts'
import { checkFiles } from '../../src/check/check-files.ts'
import { PROMPT_TYPES } from '../../src/domain/items/fields.ts'
import { ANONYMOUS } from '../../src/domain/people/actor.ts'
import { parseVariables } from '../../src/domain/variables/variables.ts'
import { FILE_NAME, inspectFile } from '../../src/encoder/model.ts'
import { importLibrary } from '../../src/transfer/library-folder.ts'
import { readSkillFolder } from '../../src/transfer/skill-folder.ts'
import { useTestApp } from '../support/test-app.ts'

const STARTER = fileURLToPath(new URL('../../starter', import.meta.url))

describe('the starter library', { shuffle: false }, () => {
  const test = useTestApp()
  const prompts: { title: string; content: string; type: string; category: string }[] = JSON.parse(
    readFileSync(`${STARTER}/prompts.json`, 'utf8'),
  )

  it('is imported whole, without a remark, and once', async () => {
    const options = { owner: 'commonplace', visibility: 'public' as const }
    const { report } = await importLibrary(test.app.store, STARTER, options)
    const skills = readdirSync(`${STARTER}/skills`).length
    expect(report).toMatchObject({ read: prompts.length + skills, created: prompts.length + skills, refused: 0, remarks: [] })
    expect((await importLibrary(test.app.store, STARTER, options)).report).toMatchObject({ created: 0, unchanged: prompts.length + skills })
  })

  it('has nothing that the check finds', async () => {
    const found = await Promise.all(
      readdirSync(`${STARTER}/skills`).map(async (name) => checkFiles((await readSkillFolder(`${STARTER}/skills/${name}`)).files)),
    )
    expect(found.flat()).toEqual([])
  })

  it('has at least 40 prompts over all types and categories, a third of them with variables', async () => {
    expect(prompts.length).toBeGreaterThanOrEqual(40)
    expect(new Set(prompts.map((prompt) => prompt.type))).toEqual(new Set(PROMPT_TYPES))
    const categories = await test.app.store.categories.listCategories(ANONYMOUS)
    expect(categories.filter((category) => category.prompts === 0)).toEqual([])
    expect(prompts.filter((prompt) => parseVariables(prompt.content).variables.length > 0).length).toBeGreaterThanOrEqual(
      prompts.length / 3,
    )
  })

  it('has structured prompts that are what they claim', () => {
    for (const { title, content } of prompts.filter((prompt) => prompt.type === 'STRUCTURED')) {
      const document: unknown = parse(content)
      expect(typeof document === 'object' && document !== null, title).toBe(true)
    }
  })

  it('has at least 5 skills with several files each', async () => {
    const { items } = await test.app.store.items.searchItems(ANONYMOUS, 'skill', {
      query: null,
      filter: {},
      sort: 'newest',
      limit: 50,
      offset: 0,
    })
    expect(items.length).toBeGreaterThanOrEqual(5)
    for (const skill of items) {
      expect(skill.files.length, skill.title).toBeGreaterThan(2)
      expect(skill.description, skill.title).not.toBeNull()
      expect(skill.category, skill.title).not.toBeNull()
    }
  })
  it('comes with the vectors of its items and of no others (npm run starter:vectors)', async () => {
    const { model } = inspectFile(fileURLToPath(new URL(`../../dist/encoder/${FILE_NAME}`, import.meta.url)))
    const digests: string[] = []
    // Found from the latest change down.
    for (let upTo = 1000; upTo > 0; ) {
      const found = await test.app.store.itemVectors.listUnencoded({ model, isProvider: false }, { after: 0, upTo }, 100)
      digests.push(...found.items.map(({ digest }) => digest))
      upTo = found.upTo
    }
    const prepared = loadPreparedVectors(model, (message) => expect.unreachable(message))
    expect([...prepared.keys()].toSorted()).toEqual(digests.toSorted())
  })
})
