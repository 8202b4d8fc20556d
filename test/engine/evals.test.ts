import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CaseResult } from '../../src/domain/evals/evals.ts'
import type { User } from '../../src/domain/items/items.ts'
import { UNMEASURED } from '../../src/evals/results/json-formats.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

for (const engine of ENGINES) {
  describe(`tests of items on ${engine.name}`, () => {
    let place: Awaited<ReturnType<(typeof engine)['create']>>
    let database: OpenDatabase
    let store: LibraryStore
    let ada: User
    let id: string
    let now = Date.UTC(2026, 0, 1)
    beforeEach(async () => {
      place = await engine.create()
      database = place.open()
      store = await createStore(database, { clock: () => (now += 1000), random: countingRandom() })
      ada = await store.people.createUser({ username: 'Ada', defaultVisibility: 'private' })
      ;({ id } = await store.items.createItem({ userId: ada.id, note: null }, { kind: 'prompt', ...PLAIN_PROMPT, visibility: 'public' }))
    })
    afterEach(async () => {
      await store.close()
      await place.remove()
    })
    const result = (name: string, passed: boolean | null): CaseResult => ({ ...UNMEASURED, case: name, passed })
    const run = (more: object = {}) => ({
      format: 'junit' as const,
      runner: null,
      model: null,
      startedAt: null,
      isPartial: false,
      results: [result('a', true), result('b', false)],
      version: 1,
      textDigest: 'a'.repeat(64),
      casesDigest: null,
      userId: ada.id,
      keyId: null,
      total: null,
      ...more,
    })
    const item = () => ({ id, kind: 'prompt' as const, ownerId: ada.id })

    it('keep runs, with the verdicts of their cases', async () => {
      expect(await store.evals.listVerdicts([], ['a'])).toEqual(new Map())
      const { seq } = await store.evals.addRun(item(), run())
      expect(await store.evals.listVerdicts([seq], ['a', 'b', 'c'])).toEqual(
        new Map([
          [
            seq,
            new Map([
              ['a', true],
              ['b', false],
            ]),
          ],
        ]),
      )
      expect(await store.evals.listTrend(id, 10)).toMatchObject([{ seq, passed: 1, failed: 1, done: 2 }])
      expect(await store.evals.findCountedRun(id, 'a'.repeat(64), [])).toBeNull()
    })

    it('begin a run alone, and end one whose process stopped', async () => {
      const here = run({ format: 'commonplace', results: [], total: 2, isPartial: true })
      const alone = { refusesOthers: true }
      const begun = await Promise.allSettled([store.evals.addRun(item(), here, alone), store.evals.addRun(item(), here, alone)])
      expect(begun.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      const [first] = await store.evals.listRuns(id, { before: null, limit: 1 })
      expect(await store.evals.addResults(id, first?.seq ?? 0, [result('a', null)])).toBe(true)
      now += 3_600_000
      expect((await store.evals.findRun(id, first?.seq ?? 0))?.state).toBe('failed')
      const next = await store.evals.addRun(item(), here, alone)
      expect(await store.evals.findRun(id, first?.seq ?? 0)).toMatchObject({ state: 'failed', isPartial: true, done: 1 })
      expect(await store.evals.endRun(id, next.seq, null)).toBe(true)
      expect(await store.evals.findCountedRun(id, 'a'.repeat(64), [])).toMatchObject({ seq: next.seq, isPartial: false })
      expect(await store.evals.addResults(id, next.seq, [result('b', true)])).toBe(false)
    })

    it('keep answers, what they took, and files of cases', async () => {
      const answer = { text: 'hi', inputTokens: 1_000_000_000, outputTokens: 2, durationMs: 3 }
      await store.evals.keepAnswer(id, 'd', answer)
      await store.evals.keepAnswer(id, 'd', { ...answer, text: 'again' })
      expect(await store.evals.findAnswer(id, 'd')).toEqual(answer)
      for (let n = 0; n < 3; n++) await store.evals.countTestUsage(ada.id, 2_000_000_000, 5_000_000_000)
      const day = new Date(now).toISOString().slice(0, 10)
      expect(await store.evals.readTestUsage(ada.id, day)).toEqual({ tokens: 6_000_000_000, microUsd: 15_000_000_000 })
      const [a, b] = [
        { filename: 'a', content: 'A' },
        { filename: 'b', content: 'B' },
      ]
      await Promise.all([a, b].map((file) => store.evals.writeCaseFiles(id, [file], { replaces: false })))
      expect((await store.evals.readCaseFiles(id, 1)).map(({ filename }) => filename).toSorted()).toEqual(['a', 'b'])
      const large = { filename: 'c', content: 'x'.repeat(600_000) }
      await expect(store.evals.writeCaseFiles(id, [large], { replaces: true })).rejects.toMatchObject({ code: 'invalid_input' })
      await store.evals.writeCaseFiles(id, [], { replaces: true })
      expect(await store.evals.readCaseFiles(id, 7)).toEqual([])
    })
  })
}
