import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createKey, createUser, importStarter } from '../support/library-fixtures.ts'
import { createDatabase, isOnPostgres } from '../support/postgres.ts'
import { createPlace, type Place } from '../support/processes.ts'

const digest = z.strictObject({ rows: z.int(), sha256: z.string().length(64) })
const reportShape = z.strictObject({
  tables: z.array(z.strictObject({ name: z.string(), from: digest, to: digest })),
  fault: z.string().nullable(),
})

describe.runIf(isOnPostgres())('migrate-data', () => {
  let place: Place
  let first = ''
  let key = ''
  const removals: (() => Promise<void>)[] = []
  const file = (name: string) => `sqlite:${join(place.folder, name)}`
  const server = async () => {
    const { url, remove } = await createDatabase({ isEmpty: true })
    removals.push(remove)
    return url
  }
  const migrate = async (from: string, to: string) => {
    const { code, stdout, stderr } = await place.commonplace(['migrate-data', '--from', from, '--to', to, '--json'])
    expect(stderr).not.toMatch(/Error|\bat .*:\d+/)
    return { code, stderr, report: stdout === '' ? null : reportShape.parse(JSON.parse(stdout)) }
  }
  const onLibrary = async (databaseUrl: string, args: readonly string[], env: Record<string, string> = {}) => {
    const done = await place.commonplace(args, { env: { DATABASE_URL: databaseUrl, ...env } })
    if (done.code !== 0) throw new Error(done.stderr)
    return done.stdout
  }

  beforeAll(async () => {
    place = createPlace()
    first = file('first.db')
    await importStarter(first, 'ada')
    key = await createKey(first, 'ada')
    const as = { PROMPTS_API_KEY: key }
    const shown = z.object({ prompt: z.object({ id: z.string() }) })
    const save = async (title: string) =>
      shown.parse(JSON.parse(await onLibrary(first, ['save-prompt', '--title', title, '--content', 'Hidden ${blank}'], as))).prompt.id
    await save('Mine alone')
    await onLibrary(first, ['delete', 'prompts', await save('In the trash')], as)
  })
  afterAll(async () => {
    await place.remove()
    for (const remove of removals) await remove()
  })

  it('carries a library to PostgreSQL and back, with everything as it was', async () => {
    const [second, third] = [await server(), file('third.db')]
    const there = await migrate(first, second)
    const back = await migrate(second, third)
    expect([there.code, back.code]).toEqual([0, 0])
    for (const { report } of [there, back]) {
      expect(report).toMatchObject({ fault: null })
      for (const { name, from, to } of report?.tables ?? []) expect(to, name).toEqual(from)
    }
    // That it was copied is recorded in each copy.
    const library = (tables: typeof there.report) => tables?.tables.filter(({ name }) => name !== 'audit_event') ?? []
    expect(library(back.report).map(({ to }) => to)).toEqual(library(there.report).map(({ from }) => from))
    const events = (tables: typeof there.report) => tables?.tables.find(({ name }) => name === 'audit_event')
    expect((events(back.report)?.to.rows ?? 0) - (events(there.report)?.from.rows ?? 0)).toBe(1)
    expect(there.report?.tables.find(({ name }) => name === 'item')?.from.rows).toBeGreaterThan(70)
    // A line for each table, and nothing else.
    expect(there.stderr).toMatch(/^([a-z_]+: \d+ rows\n)+$/)
    expect(there.stderr.match(/^item: /gm)).toHaveLength(1)

    for (const databaseUrl of [second, third]) {
      const { url, child } = await place.serve({ env: { DATABASE_URL: databaseUrl }, instances: 1 })
      const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
      const list = await fetch(`${url}/api/prompts?q=${encodeURIComponent('mine alone')}`, { headers })
      expect(await list.text()).toContain('"Mine alone"')
      expect(await (await fetch(`${url}/api/prompts?q=${encodeURIComponent('mine alone')}`)).text()).not.toContain('"Mine alone"')
      // The next numbers are free.
      const saved = await fetch(`${url}/api/prompts`, {
        method: 'POST',
        headers,
        body: '{"title":"After","content":"wholly new vocabulary: zyzzyva"}',
      })
      expect(saved.status).toBe(201)
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
  })

  it('prints a table for people', async () => {
    const second = file('second.db')
    const { code, stdout } = await place.commonplace(['migrate-data', '--from', first, '--to', second])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^table +rows +copied +digest +copy digest\nuser +\d+ +\d+ +[0-9a-f]{16} +[0-9a-f]{16} +same\n/)
    expect(stdout).toMatch(/\nThe copy matches the source\.\n$/)
  })

  it('refuses what is no library, what is no address, and a target that holds something', async () => {
    const [missing, full] = [file('missing.db'), file('full.db')]
    await createUser(full, 'ben')
    expect(await migrate(missing, await server())).toMatchObject({ code: 66, report: null })
    expect(await migrate(await server(), file('new.db'))).toMatchObject({ code: 66, stderr: expect.stringContaining('no library') })
    expect(await migrate(first, full)).toMatchObject({ code: 75, stderr: expect.stringContaining('not empty') })
    expect(await migrate(first, first)).toMatchObject({ code: 75, stderr: expect.stringContaining('same library') })
    expect(await migrate('postgresql//x', full)).toMatchObject({ code: 64, stderr: expect.stringContaining('--from must be') })
    expect(await onLibrary(full, ['users', 'list'])).toContain('"username": "ben"')
  })
})
