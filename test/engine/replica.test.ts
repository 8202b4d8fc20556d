import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isOnPostgres } from '../support/postgres.ts'
import { findBinaries, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { readJson, type TestApp, testApp } from '../support/test-app.ts'

type Person = Awaited<ReturnType<TestApp['user']>>
type Instance = Pick<TestApp, 'app' | 'call' | 'fetch' | 'close'>

/** Whether this machine can run a server and its standby. */
function canReplicate(): boolean {
  if (!isOnPostgres()) return false
  try {
    findBinaries()
    return true
  } catch (error) {
    process.stderr.write(`Reads from a replica are not tested: ${error instanceof Error ? error.message : String(error)}\n`)
    return false
  }
}

/** Runs one statement on a server. */
async function ask(server: PostgresServer, text: string): Promise<Record<string, unknown>> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    const { rows } = await client.query(text)
    return rows[0] ?? {}
  } finally {
    await client.end()
  }
}

describe.runIf(canReplicate())('reads from a replica', () => {
  let primary: PostgresServer
  let standby: PostgresServer
  let test: TestApp
  let other: Instance
  let ann: Person
  let bob: Person
  const sentences: string[] = []

  const pause = () => ask(standby, 'select pg_wal_replay_pause()')
  /** Lets replay go on, and waits until everything is there. */
  const resume = async () => {
    await ask(standby, 'select pg_wal_replay_resume()')
    const { at } = await ask(primary, 'select pg_current_wal_insert_lsn() as at')
    await expect.poll(async () => (await ask(standby, `select pg_last_wal_replay_lsn() >= '${at}' as done`))['done']).toBe(true)
  }
  /** How many reads of items each server answered during some work. */
  const serverOf = async (work: () => Promise<unknown>, instance: Instance = test) => {
    const counts = () => ({ ...(instance.app.store.service.countReads() ?? { replica: 0, primary: 0 }) })
    const before = counts()
    await work()
    const after = counts()
    return { replica: after.replica - before.replica, primary: after.primary - before.primary }
  }
  const save = async (title: string) => {
    const { prompt } = await test.call(ann.actor, 'save_prompt', { title, content: 'walrus', isPrivate: false })
    return String(Object(prompt).id)
  }
  /** The content of a prompt over REST; the status where there is none. */
  const read = async (id: string, { who, at = test }: { who?: Person; at?: Instance } = {}) => {
    const response = await at.fetch(`/api/prompts/${id}`, who ? { key: who.key } : {})
    return response.status === 200 ? (await readJson(response)).content : response.status
  }
  /** Until both instances read from the replica. */
  const waitForReplica = async () => {
    for (const instance of [test, other]) {
      const readByReplica = async () => (await serverOf(() => instance.fetch('/api/skills/none-of-this-name'), instance)).replica
      await expect.poll(readByReplica).toBeGreaterThan(0)
    }
  }

  beforeAll(async () => {
    primary = await startPostgres(['fsync=off', 'full_page_writes=off'])
    standby = await primary.startStandby()
    test = await testApp({}, {}, null, {
      databaseUrl: primary.url,
      databaseReadUrl: standby.url,
      onReplica: (sentence) => void sentences.push(sentence),
    })
    other = await test.reopen()
    for (const instance of [test, other]) await instance.app.store.service.loadSearch()
    ann = await test.user('ann')
    bob = await test.user('bob')
  })
  afterEach(async () => {
    await resume()
    await waitForReplica()
  })
  afterAll(async () => {
    await other?.close()
    await test?.close()
    await standby?.stop()
    await primary?.stop()
  })

  it('show others a change when it is replayed, and its writer at once on every instance', async () => {
    const id = await save('Changed later')
    await resume()
    await waitForReplica()
    const { replica, primary: rest } = await serverOf(async () => expect(await read(id, { who: bob })).toBe('walrus'))
    expect([replica > 0, rest]).toEqual([true, 0])
    await pause()
    await test.call(ann.actor, 'update_prompt', { id, content: 'quokka' })
    for (const at of [test, other]) {
      // What the replica answers is old: this shows that it does.
      expect([await read(id, { at }), await read(id, { at, who: bob }), await read(id, { at, who: ann })]).toEqual([
        'walrus',
        'walrus',
        'quokka',
      ])
    }
    await resume()
    for (const at of [test, other]) expect([await read(id, { at }), await read(id, { at, who: bob })]).toEqual(['quokka', 'quokka'])
  })

  it('leave to the primary what a replica has not replayed that narrowed what somebody may see', async () => {
    const id = await save('Withdrawn')
    await resume()
    await waitForReplica()
    expect([await read(id), await read(id, { at: other })]).toEqual(['walrus', 'walrus'])
    await pause()
    await test.call(ann.actor, 'update_prompt', { id, visibility: 'private' })
    for (const at of [test, other]) expect([await read(id, { at }), await read(id, { at, who: bob })]).toEqual([404, 404])
    expect(await read(id, { who: ann })).toBe('walrus')
  })

  it('go on when the replica is killed, and go back to it afterwards', async () => {
    const id = await save('Still there')
    await resume()
    sentences.length = 0
    await standby.halt()
    for (const who of [undefined, ann, bob]) expect(await read(id, who ? { who } : {})).toBe('walrus')
    await expect.poll(async () => (await readJson(await test.fetch('/readyz'))).replica).toBe('unusable')
    expect(sentences.join()).toMatch(/The replica 127\.0\.0\.1:\d+ does not answer: .*\. The primary answers all reads\./)
    expect(sentences.join()).not.toContain(new URL(standby.url).password)
    await standby.restart()
    await waitForReplica()
    expect(sentences.at(-1)).toMatch(/can be used again\.$/)
  })
})
