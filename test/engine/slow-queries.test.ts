import { expect, it } from 'vitest'
import { createPlace } from '../support/processes.ts'

it('statements that take long are logged, without their values; and none when the log is off', async () => {
  for (const [setting, isLogged] of [
    ['1', true],
    ['off', false],
  ] as const) {
    const place = createPlace()
    const child = place.start(['serve', '--starter'], { env: { SLOW_QUERY_MS: setting } })
    let log = ''
    child.stderr.on('data', (chunk) => {
      log += chunk
    })
    await new Promise((resolve) => child.stdout.on('data', (chunk) => String(chunk).includes('Stop with') && resolve(null)))
    await place.remove()
    const slow = log.split('\n').filter((line) => line.includes('"Slow query"'))
    // Loading a library takes statements of more than a millisecond.
    expect(slow.length > 0).toBe(isLogged)
    for (const line of slow) expect(JSON.parse(line)).toMatchObject({ ms: expect.any(Number), sql: expect.any(String) })
    for (const value of ['pull request', 'Act as', 'commonplace_is']) expect(slow.join('')).not.toContain(value)
  }
})
