import { expect, it } from 'vitest'
import { createPlace } from '../support/processes.ts'

it('statements that take long are logged, without their values; and none when the log is off', async () => {
  for (const [setting, isLogged] of [
    ['1', true],
    ['off', false],
  ] as const) {
    const place = createPlace()
    const service = await place.serveHere({ SLOW_QUERY_MS: setting }, { starter: true })
    await service.stop()
    const slow = service
      .log()
      .split('\n')
      .filter((line) => line.includes('"Slow query"'))
    await place.remove()
    // Loading a library takes statements of more than a millisecond.
    expect(slow.length > 0).toBe(isLogged)
    for (const line of slow) expect(JSON.parse(line)).toMatchObject({ ms: expect.any(Number), sql: expect.any(String) })
    for (const value of ['pull request', 'Act as', 'commonplace_is']) expect(slow.join('')).not.toContain(value)
  }
})
