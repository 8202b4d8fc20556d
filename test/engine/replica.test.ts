import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isOnPostgres } from '../support/postgres.ts'
import { findBinaries, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { json, readJson, rpc, type TestApp, testApp } from '../support/test-app.ts'
import { signUp, type Visitor } from '../support/visitor.ts'

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

/** Waits until `isSo` says so. */
async function until(isSo: () => Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`It did not come to be: ${isSo}`)
    await sleep(20)
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
  let admin: Person
  /** In a browser. */
  let operator: Visitor
  /** Never writes. */
  let guest: Person
  const sentences: string[] = []

  const pause = () => ask(standby, 'select pg_wal_replay_pause()')
  /** Lets replay go on, and waits until everything is there. */
  const resume = async () => {
    await ask(standby, 'select pg_wal_replay_resume()')
    const { at } = await ask(primary, 'select pg_current_wal_insert_lsn() as at')
    await until(async () => (await ask(standby, `select pg_last_wal_replay_lsn() >= '${at}' as done`))['done'] === true)
  }
  const counts = (instance: Instance = test) => ({ ...(instance.app.store.service.countReads() ?? { replica: 0, primary: 0 }) })
  /** Which server answered the statements of some reads of items. */
  const serverOf = async (work: () => Promise<unknown>, instance: Instance = test) => {
    const before = counts(instance)
    await work()
    const after = counts(instance)
    return {
      replica: after.replica - before.replica,
      primary: after.primary - before.primary,
    }
  }
  const withAccount = ({ actor }: Person) => ({ ...actor, scopes: new Set([...actor.scopes, 'account' as const]) })
  const save = async (who: Person, fields: object) => {
    const { prompt } = await test.call(who.actor, 'save_prompt', { title: 'Plan', content: 'walrus', isPrivate: false, ...fields })
    return Object(prompt) as { id: string; slug: string }
  }
  /** The content of a prompt over REST; the status where there is none. */
  const read = async (id: string, { who, at = test }: { who?: Person; at?: Instance } = {}) => {
    const response = await at.fetch(`/api/prompts/${id}`, who ? { key: who.key } : {})
    return response.status === 200 ? (await readJson(response)).content : response.status
  }
  const page = async (path: string, at: Instance = test) => {
    const response = await at.fetch(path, { headers: { accept: 'text/html' } })
    return `${response.status} ${await response.text()}`
  }
  /** Until both instances read from the replica. */
  const waitForReplica = async () => {
    for (const instance of [test, other]) {
      await until(async () => (await serverOf(() => instance.fetch('/api/skills/none-of-this-name'), instance)).replica > 0)
    }
  }

  beforeAll(async () => {
    primary = await startPostgres(['fsync=off', 'full_page_writes=off'])
    standby = await primary.startStandby()
    test = await testApp({ METRICS_TOKEN: 'metrics-token-of-tests' }, {}, null, {
      databaseUrl: primary.url,
      databaseReadUrl: standby.url,
      onReplica: (sentence) => void sentences.push(sentence),
    })
    other = await test.reopen()
    for (const instance of [test, other]) await instance.app.store.service.loadSearch()
    ann = await test.user('ann')
    bob = await test.user('bob')
    admin = await test.user('admin')
    guest = await test.user('guest')
    operator = await signUp(test, 'operator')
    admin = { ...admin, actor: { ...admin.actor, scopes: new Set([...withAccount(admin).scopes, 'admin']) } }
    await resume()
    await waitForReplica()
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

  it('take reads of strangers and of people off the primary', async () => {
    const { id, slug } = await save(ann, { title: 'Off the primary' })
    const { prompt: own } = await test.call(ann.actor, 'save_prompt', { title: 'Mine', content: 'tundra', isPrivate: true })
    await resume()
    for (const path of [`/api/prompts/${id}`, '/api/prompts?sort=newest', `/api/prompts/${id}/versions`, '/api/collections']) {
      const { replica, primary: rest } = await serverOf(async () => expect((await test.fetch(path, { key: bob.key })).status).toBe(200))
      expect([path, replica > 0, rest]).toEqual([path, true, 0])
    }
    const used = await serverOf(async () => expect(await page(`/prompts/${slug}`)).toContain('walrus'))
    expect(used.replica).toBeGreaterThan(0)
    const ofOwn = await serverOf(async () => expect(await read(Object(own).id, { who: ann })).toBe('tundra'))
    expect([ofOwn.replica > 0, ofOwn.primary]).toEqual([true, 0])
  })

  it('show others a change when it is replayed, and its writer at once on every instance', async () => {
    const { id, slug } = await save(ann, { title: 'Changed later' })
    await resume()
    await pause()
    await test.call(ann.actor, 'update_prompt', { id, content: 'quokka' })
    for (const at of [test, other]) {
      // What the replica answers is old: this shows that it does.
      expect(await read(id, { at })).toBe('walrus')
      expect(await read(id, { at, who: bob })).toBe('walrus')
      expect(await page(`/prompts/${slug}`, at)).toContain('walrus')
      expect(await read(id, { at, who: ann })).toBe('quokka')
    }
    await resume()
    for (const at of [test, other]) {
      expect(await read(id, { at })).toBe('quokka')
      expect(await read(id, { at, who: bob })).toBe('quokka')
      expect(await page(`/prompts/${slug}`, at)).toContain('quokka')
    }
  })

  it('show their writer votes at once', async () => {
    const { id } = await save(ann, { title: 'Voted for' })
    await resume()
    await pause()
    await test.call(bob.actor, 'vote', { collection: 'prompts', id })
    const votes = async (at: Instance, who: Person) => (await readJson(await at.fetch(`/api/prompts/${id}`, { key: who.key }))).votes
    for (const at of [test, other]) expect([await votes(at, bob), await votes(at, ann)]).toEqual([1, 0])
  })

  it('keep no page of a list as newer than it is', async () => {
    const { id } = await save(ann, { title: 'Listed as before' })
    await resume()
    await pause()
    await test.call(ann.actor, 'update_prompt', { id, title: 'Listed as after' })
    // The index knows; a page that is cached by the revision of the primary is read from there.
    for (const at of [test, other]) expect(await page('/prompts?sort=newest', at)).toContain('Listed as after')
    await resume()
    for (const at of [test, other]) expect(await page('/prompts?sort=newest', at)).toContain('Listed as after')
  })

  describe('that has not replayed what narrowed what somebody may see', () => {
    /** What narrows, and the path that a reader gets 200 from before, and 404 after. Without `key`: an anonymous reader. */
    const NARROWING: Record<string, () => Promise<{ path: string; key?: string; narrow: () => Promise<unknown> }>> = {
      'withdrawal to private': async () => {
        const { id } = await save(ann, {})
        return { path: `/api/prompts/${id}`, narrow: () => test.call(ann.actor, 'update_prompt', { id, visibility: 'private' }) }
      },
      'withdrawal to members': async () => {
        const { id } = await save(ann, {})
        return { path: `/api/prompts/${id}`, narrow: () => test.call(ann.actor, 'update_prompt', { id, visibility: 'members' }) }
      },
      'withdrawal from members': async () => {
        const { id } = await save(ann, { isPrivate: undefined, visibility: 'members' })
        const narrow = () => test.call(ann.actor, 'update_prompt', { id, visibility: 'private' })
        return { path: `/api/prompts/${id}`, key: bob.key, narrow }
      },
      'a hold': async () => {
        const { id, slug } = await save(ann, {})
        return {
          path: `/api/prompts/${slug}`,
          narrow: () => test.call(admin.actor, 'set_held', { collection: 'prompts', id, isHeld: true }),
        }
      },
      deletion: async () => {
        const { id } = await save(ann, {})
        return { path: `/api/prompts/${id}`, narrow: () => test.call(ann.actor, 'delete_item', { collection: 'prompts', id }) }
      },
      'deletion for good': async () => {
        const { id } = await save(ann, {})
        return { path: `/api/prompts/${id}`, narrow: () => test.call(withAccount(ann), 'purge_item', { collection: 'prompts', id }) }
      },
      'deletion of versions': async () => {
        const { id } = await save(ann, {})
        await test.call(ann.actor, 'update_prompt', { id, content: 'quokka' })
        const narrow = () => test.call(withAccount(ann), 'purge_versions', { collection: 'prompts', id, first: 1, last: 1 })
        return { path: `/api/prompts/${id}/versions/1`, narrow }
      },
      'a transfer': async () => {
        const { id } = await save(ann, { isPrivate: true })
        const { offer } = await test.call(ann.actor, 'offer_item', { collection: 'prompts', id, to: 'bob' })
        return { path: `/api/prompts/${id}`, key: ann.key, narrow: () => test.call(bob.actor, 'accept_offer', { id: Object(offer).id }) }
      },
      'leaving a team': async () => {
        await test.call(ann.actor, 'create_team', { team: 'leavers' })
        await test.call(ann.actor, 'set_team_member', { team: 'leavers', username: 'bob', role: 'reader' })
        const { id } = await save(ann, { owner: 'leavers', isPrivate: true })
        const narrow = () => test.call(ann.actor, 'remove_team_member', { team: 'leavers', username: 'bob' })
        return { path: `/api/prompts/${id}`, key: bob.key, narrow }
      },
      'the end of a team': async () => {
        await test.call(ann.actor, 'create_team', { team: 'enders' })
        await test.call(ann.actor, 'set_team_member', { team: 'enders', username: 'bob', role: 'reader' })
        const { collection } = await test.call(ann.actor, 'create_collection', { title: 'Of the team', owner: 'enders' })
        return {
          path: `/api/collections/${Object(collection).id}`,
          key: bob.key,
          narrow: () => test.call(ann.actor, 'delete_team', { team: 'enders' }),
        }
      },
      'withdrawal of a collection': async () => {
        const { collection } = await test.call(ann.actor, 'create_collection', { title: 'Walks', visibility: 'public' })
        const { id } = Object(collection)
        const narrow = () => test.call(ann.actor, 'update_collection', { id, visibility: 'private' })
        return { path: `/api/collections/${id}`, narrow }
      },
      'taking an item out of what a key is narrowed to': async () => {
        const { id } = await save(ann, { isPrivate: true })
        const { collection } = await test.call(ann.actor, 'create_collection', { title: 'For a key' })
        const set = Object(collection).id
        await test.call(ann.actor, 'add_to_collection', { id: set, items: [id] })
        const { key } = await test.call(withAccount(ann), 'create_key', { name: 'narrow', collections: [set] })
        return {
          path: `/api/prompts/${id}`,
          key: String(key),
          narrow: () => test.call(ann.actor, 'remove_from_collection', { id: set, items: [id] }),
        }
      },
    }

    it.each(Object.keys(NARROWING))('leave everything to the primary after %s', async (name) => {
      const made = await NARROWING[name]?.()
      if (!made) throw new Error(`There is no ${name}`)
      const { path, key, narrow } = made
      const statuses = () => Promise.all([test, other].map(async (at) => (await at.fetch(path, key === undefined ? {} : { key })).status))
      await resume()
      expect(await statuses()).toEqual([200, 200])
      await pause()
      await narrow()
      expect(await statuses()).toEqual([404, 404])
      for (const at of [test, other]) {
        const pages = await serverOf(() => page('/prompts?sort=newest&q=walrus', at), at)
        const lists = await serverOf(() => at.fetch('/api/collections', { key: guest.key }), at)
        expect([pages.replica, lists.replica, lists.primary > 0]).toEqual([0, 0, true])
      }
      await resume()
      expect(await statuses()).toEqual([404, 404])
      // Everything is as it was for those who come later.
      for (const at of [test, other]) {
        const lists = await serverOf(() => at.fetch('/api/collections', { key: guest.key }), at)
        expect([lists.replica > 0, lists.primary]).toEqual([true, 0])
      }
    })

    it('show the page of an item to nobody who may not see it', async () => {
      const { id, slug } = await save(ann, { title: 'On a page' })
      await resume()
      for (const at of [test, other]) expect(await page(`/prompts/${slug}`, at)).toContain('walrus')
      await pause()
      await test.call(ann.actor, 'update_prompt', { id, visibility: 'private' })
      for (const at of [test, other]) {
        const html = await page(`/prompts/${slug}`, at)
        expect([html.slice(0, 3), html.includes('walrus')]).toEqual(['404', false])
        expect(await page('/prompts?sort=newest', at)).not.toContain('On a page')
      }
    })
  })

  it('follow a replica that has what narrowed, beside a transaction that takes long', async () => {
    const { id } = await save(ann, { title: 'Beside a long one' })
    await resume()
    const long = new pg.Client({ connectionString: primary.url })
    await long.connect()
    try {
      await long.query('begin')
      await long.query('select pg_current_xact_id()')
      await test.call(ann.actor, 'update_prompt', { id, visibility: 'private' })
      await resume()
      await waitForReplica()
      expect(await read(id)).toBe(404)
      const own = await serverOf(() => test.fetch('/api/collections', { key: ann.key }))
      expect([own.replica > 0, own.primary]).toEqual([true, 0])
    } finally {
      await long.end()
    }
  })

  it('keep as many marks as a replica may need', async () => {
    const marks = async () =>
      await ask(primary, "select count(*) filter (where caller like 'old %')::int as old, count(*)::int as n from read_mark")
    const { at } = await ask(primary, 'select pg_current_xact_id()::text::int as at')
    const now = Number(at)
    await ask(
      primary,
      `insert into read_mark (caller, xid) values ('old 1', ${now - 200_300}), ('old 2', ${now - 500_000}), ('old 3', 900000000000), ('kept', ${now - 190_000})`,
    )
    // One transaction in 256 removes old marks.
    for (let round = 0; round < 300; round++) {
      await ask(primary, "insert into read_mark (caller, xid) values ('new', pg_current_xact_id()::text::bigint)")
    }
    expect((await marks())['old']).toBe(0)
    const { kept, fresh } = await ask(
      primary,
      "select count(*) filter (where caller = 'kept')::int as kept, count(*) filter (where caller = 'new')::int as fresh from read_mark",
    )
    expect([kept, fresh]).toEqual([1, 300])
  })

  it('answer what a client asks over MCP', async () => {
    const { id } = await save(ann, { title: 'Over MCP' })
    await resume()
    const get = async (key?: string) => {
      const response = await test.fetch('/api/mcp', {
        ...rpc('tools/call', { name: 'get_prompt', arguments: { id } }),
        ...(key ? { key } : {}),
      })
      return await response.text()
    }
    expect((await serverOf(async () => expect(await get(guest.key)).toContain('walrus'))).replica).toBeGreaterThan(0)
    await pause()
    await test.call(ann.actor, 'update_prompt', { id, content: 'quokka' })
    expect(await get(guest.key)).toContain('walrus')
    expect(await get(ann.key)).toContain('quokka')
    await test.call(ann.actor, 'update_prompt', { id, visibility: 'private' })
    for (const key of [undefined, guest.key]) expect(await get(key)).not.toMatch(/walrus|quokka/)
    expect(await get(ann.key)).toContain('quokka')
  })

  it('refuse a revoked key at once', async () => {
    const { id } = await save(ann, { title: 'For a key' })
    await resume()
    const gone = await test.user('gone')
    await resume()
    expect(await read(id, { who: gone })).toBe('walrus')
    await pause()
    await test.call(withAccount(gone), 'revoke_key', { id: gone.actor.keyId })
    for (const at of [test, other]) expect(await read(id, { who: gone, at })).toBe(401)
  })

  it('say that the replica is behind, and how far', async () => {
    const states = async () => {
      const ready = await test.fetch('/readyz')
      const there = await other.app.store.service.readReplica()
      return [ready.status, (await readJson(ready)).replica, there?.state]
    }
    await expect.poll(states).toEqual([200, 'current', 'current'])
    await pause()
    await save(ann, { title: 'Behind' })
    await expect.poll(states).toEqual([200, 'behind', 'behind'])
    const state = await test.app.store.service.readReplica()
    expect(state?.bytes).toBeGreaterThan(100)
    expect(state?.seconds).toBeGreaterThan(0.9)
    const status = await operator.get('/admin/status')
    const words = /Replica<\/dt>\s*<dd[^>]*>([^<]*)</.exec(status.html)?.[1]
    expect(words).toMatch(/^127\.0\.0\.1:\d+: behind, the primary answers where that matters, [\d.,]+ (B|KiB) behind for \d+ s$/)
    const metrics = await (await test.fetch('/metrics', { headers: { authorization: 'Bearer metrics-token-of-tests' } })).text()
    expect(metrics).toMatch(/^commonplace_replica_up 1$/m)
    expect(metrics).toMatch(/^commonplace_replica_lag_bytes [1-9]\d*$/m)
    expect(metrics).toMatch(/^commonplace_replica_lag_seconds [\d.]+$/m)
    expect(metrics).toMatch(/^commonplace_item_reads_total\{server="replica"\} [1-9]\d*$/m)
    await resume()
    await expect.poll(states).toEqual([200, 'current', 'current'])
  })

  it('go on when the replica is killed, held or away, and go back to it afterwards', async () => {
    const { id } = await save(ann, { title: 'Still there' })
    await resume()
    const isUnusable = async () => (await readJson(await test.fetch('/readyz'))).replica === 'unusable'
    sentences.length = 0
    await standby.halt()
    for (const who of [undefined, ann, bob]) expect(await read(id, who ? { who } : {})).toBe('walrus')
    await expect.poll(isUnusable).toBe(true)
    expect((await test.fetch('/readyz')).status).toBe(200)
    expect(sentences.some((one) => /^The replica 127\.0\.0\.1:\d+ does not answer: .*\. The primary answers all reads\.$/.test(one))).toBe(
      true,
    )
    expect(sentences.join()).not.toContain(new URL(standby.url).password)
    await standby.restart()
    await waitForReplica()
    expect(sentences.at(-1)).toMatch(/can be used again\.$/)
    standby.setFrozen(true)
    try {
      const startedMs = performance.now()
      for (const who of [undefined, ann, bob]) expect(await read(id, who ? { who } : {})).toBe('walrus')
      expect(performance.now() - startedMs).toBeLessThan(5_000)
      await expect.poll(isUnusable).toBe(true)
    } finally {
      standby.setFrozen(false)
    }
  })

  it('find what a session just saved on its pages', async () => {
    await pause()
    const { status, to } = await operator.post('/new', { title: 'From a form', content: 'okapi', visibility: 'private' })
    expect(status).toBe(303)
    expect((await operator.get(to ?? '')).html).toContain('okapi')
    expect((await operator.get('/library')).html).toContain('From a form')
    await resume()
    await pause()
    const name = (to ?? '').replace(/\?.*$/, '')
    expect((await operator.post(name, { do: 'delete' })).status).toBe(303)
    expect((await operator.get(name)).status).toBe(404)
  })

  it('find what a request just saved, on every instance', async () => {
    await pause()
    const response = await test.fetch('/api/prompts', {
      ...json('POST', { title: 'At once', content: 'emu', isPrivate: true }),
      key: bob.key,
    })
    const { prompt } = await readJson(response)
    expect(response.status).toBe(201)
    expect(await read(prompt.id, { who: bob, at: other })).toBe('emu')
  })
})

describe.runIf(canReplicate())('two instances whose replica stops and goes on at random', () => {
  it('show nobody what was withdrawn, and everybody what they wrote', async () => {
    const seed = Number(process.env['REPLICA_SEED'] ?? 7)
    // A linear congruential generator: the same steps for a seed, whatever the servers do.
    let state = seed
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((state / 2_147_483_648) * below)
    }
    const primary = await startPostgres(['fsync=off', 'full_page_writes=off'])
    const standby = await primary.startStandby()
    const test = await testApp({}, {}, null, { databaseUrl: primary.url, databaseReadUrl: standby.url })
    const other = await test.reopen()
    const instances: readonly Instance[] = [test, other]
    const at = () => instances[random(2)] ?? test
    const people = [await test.user('ann'), await test.user('bob'), await test.user('cleo'), await test.user('dan')]
    // The last one only reads, so that nothing but what narrowed sends those reads to the primary.
    const writers = people.length - 1
    const items: { id: string; owner: number; content: string; isPublic: boolean; isChanging: boolean }[] = []
    const faults: string[] = []
    const readOne = async (item: (typeof items)[number], reader: number | null) => {
      // What was acknowledged before the request is sent is the least that it must show.
      const { id, owner, isPublic, content } = item
      if (item.isChanging) return
      const key = reader === null ? undefined : people[reader]?.key
      const response = await at().fetch(`/api/prompts/${id}`, key === undefined ? {} : { key })
      const shown = response.status === 200 ? (await readJson(response)).content : response.status
      if (item.isChanging || item.isPublic !== isPublic || item.content !== content) return
      if (reader === owner && shown !== content) faults.push(`${id}: its owner got ${shown} instead of ${content}`)
      if (reader !== owner && !isPublic && shown !== 404) faults.push(`${id}: somebody else got ${shown} of what was withdrawn`)
    }
    const write = async (round: number) => {
      const owner = random(writers)
      const actor = people[owner]?.actor ?? { kind: 'anonymous' as const }
      const mine = items.filter((item) => item.owner === owner)
      const item = mine[random(mine.length)]
      const content = `text ${round}`
      if (!item || random(4) === 0) {
        const { prompt } = await at().call(actor, 'save_prompt', { title: `Item ${round}`, content, isPrivate: false })
        items.push({ id: Object(prompt).id, owner, content, isPublic: true, isChanging: false })
        return
      }
      item.isChanging = true
      if (random(2) === 0) {
        const isPublic = !item.isPublic
        await at().call(actor, 'update_prompt', { id: item.id, visibility: isPublic ? 'public' : 'private' })
        item.isPublic = isPublic
      } else {
        await at().call(actor, 'update_prompt', { id: item.id, content })
        item.content = content
      }
      item.isChanging = false
    }
    const readers = [null, ...people.keys()]
    try {
      for (let round = 0; round < 150; round++) {
        if (random(8) === 0) await ask(standby, `select pg_wal_replay_${random(2) === 0 ? 'pause' : 'resume'}()`)
        const writing = write(round)
        const asked = Array.from({ length: 8 }, () => items[random(items.length)]).flatMap((item) => item ?? [])
        await Promise.all(asked.map((item) => readOne(item, readers[random(readers.length)] ?? null)))
        await writing
      }
      expect(faults, `with REPLICA_SEED=${seed}`).toEqual([])
      const reads = instances.map((instance) => instance.app.store.service.countReads())
      expect(reads.every((count) => count !== null && count.replica > 50 && count.primary > 50)).toBe(true)
      // In the end everybody gets what is there, from caches that were filled by both servers.
      await ask(standby, 'select pg_wal_replay_resume()')
      for (const { id, isPublic, content } of items) {
        for (const instance of instances) {
          const shown = async () => {
            const response = await instance.fetch(`/api/prompts/${id}`)
            return response.status === 200 ? (await readJson(response)).content : response.status
          }
          await expect.poll(shown).toBe(isPublic ? content : 404)
        }
      }
    } finally {
      await other.close()
      await test.close()
      await standby.stop()
      await primary.stop()
    }
  })
})

describe.runIf(canReplicate())('a server that is no replica of the library', () => {
  it.each(['another server', 'the primary itself', 'another database'])('is not read from: %s', async (what) => {
    const primary = await startPostgres(['fsync=off', 'full_page_writes=off'])
    const url = new URL(primary.url)
    await ask(primary, 'create database another')
    const second =
      what === 'another server' ? await startPostgres(['fsync=off']) : what === 'another database' ? await primary.startStandby() : null
    const readUrl = new URL(second?.url ?? primary.url)
    if (what === 'another database') readUrl.pathname = '/another'
    const sentences: string[] = []
    const settings = {
      databaseUrl: url.href,
      databaseReadUrl: readUrl.href,
      onReplica: (sentence: string) => void sentences.push(sentence),
    }
    // The other server has a library, too.
    const elsewhere = what === 'another server' ? await testApp({}, {}, null, { databaseUrl: readUrl.href }) : null
    const test = await testApp({}, {}, null, settings)
    try {
      await expect.poll(async () => (await readJson(await test.fetch('/readyz'))).replica).toBe('unusable')
      const ann = await test.user('ann')
      const { prompt } = await test.call(ann.actor, 'save_prompt', { title: 'Plan', content: 'walrus', isPrivate: false })
      expect((await test.fetch(`/api/prompts/${Object(prompt).id}`)).status).toBe(200)
      expect(test.app.store.service.countReads()?.replica).toBe(0)
      expect(sentences).toHaveLength(1)
    } finally {
      await test.close()
      await elsewhere?.close()
      await second?.stop()
      await primary.stop()
    }
  })
})
