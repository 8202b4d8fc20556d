import { afterAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/storage/open-database.ts'
import { createPlaceWithKey } from '../support/processes.ts'

/** What a process counted is in the library after it stopped. */
describe('a service that is stopped', () => {
  const places: { remove(): Promise<void> }[] = []
  afterAll(async () => {
    for (const place of places) await place.remove()
  })

  const countCalls = async (env: Record<string, string>) => {
    const { place, key } = await createPlaceWithKey('Ada')
    places.push(place)
    for (const calls of [3, 2]) {
      const { url, stop } = await place.serveHere(env)
      for (let call = 0; call < calls; call++) {
        expect((await fetch(`${url}/api/prompts?q=walrus`, { headers: { 'X-API-Key': key } })).status).toBe(200)
      }
      await stop()
    }
    const database = await openDatabase({ databaseUrl: place.databaseUrl })
    const rows = await database.reader
      .selectFrom('use_count')
      .select(['kind', (eb) => eb.fn.sum<number>('count').as('count')])
      .where('key_id', '=', '')
      .groupBy('kind')
      .orderBy('kind')
      .execute()
    await database.close()
    return rows.map(({ kind, count }) => [kind, Number(count)])
  }

  it('has written what it counted', async () => {
    expect(await countCalls({})).toEqual([
      ['call', 5],
      ['empty_search', 5],
      ['search', 5],
    ])
  })

  it('has counted nothing where that is off', async () => {
    expect(await countCalls({ USAGE_COUNTS: 'off' })).toEqual([])
  })
})
