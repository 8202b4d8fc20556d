import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** Writers that save while the service is killed: the benchmark of writers, of which each save counts here and no time. */
const SECONDS = Number(process.env['ATTACK_SECONDS'] ?? 15)
const WRITERS = fileURLToPath(new URL('../../bench/writers.ts', import.meta.url))

it.each(['sqlite', 'postgresql'])(
  'loses no acknowledged save on %s',
  async (engine) => {
    const child = spawn(process.execPath, [WRITERS, '--seconds', String(SECONDS), '--writers', '20', '--engine', engine])
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    child.stderr.on('data', (chunk) => {
      output += chunk
    })
    const [code] = await once(child, 'exit')
    process.stderr.write(output)
    expect(code, output).toBe(0)
    expect(output).toContain('lost: 0')
    expect(Number(/(\d+) saves acknowledged/.exec(output)?.[1])).toBeGreaterThan(SECONDS)
  },
  (SECONDS + 180) * 1000,
)
