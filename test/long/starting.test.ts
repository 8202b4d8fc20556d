import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { untilPrinted } from '../support/children.ts'
import { makeFolder } from '../support/folders.ts'
import { findFreePort } from '../support/postgres-server.ts'
import { createPlace, MAIN, run } from '../support/processes.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

describe('starting from the sources', () => {
  const folder = makeFolder()
  beforeAll(() => {
    for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'assets', 'src', 'scripts', 'starter']) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true })
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  })

  it('says once that it builds, and on stderr', async () => {
    const args = ['run', '-s', 'commonplace', '--', '--version']
    const first = await run('npm', args, { cwd: folder })
    expect([first.code, first.stdout, first.stderr]).toEqual([0, '0.2.0\n', "Building…\nMaking the encoder's weights…\n"])
    const second = await run('npm', args, { cwd: folder })
    expect([second.code, second.stdout, second.stderr]).toEqual([0, '0.2.0\n', ''])
  })

  it('frees the port when npm is told to end', async () => {
    const port = await findFreePort()
    const env = {
      ...process.env,
      PORT: String(port),
      LOG_LEVEL: 'warn',
      BASE_URL: '',
      DATABASE_URL: `sqlite:${join(folder, 'library.db')}`,
    }
    const npm = spawn('npm', ['start'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
    try {
      expect(await untilPrinted(npm, /Stop with/)).toContain('\n  npm run -s commonplace -- users create YOUR_NAME\n')
      expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
      npm.kill('SIGTERM')
      await once(npm, 'exit')
      await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
    } finally {
      // Whatever is left of it and of those it started, when the test fails.
      if (npm.pid !== undefined) spawnSync('kill', ['-KILL', `-${npm.pid}`])
    }
  })
})

describe('installed as a command', () => {
  it('starts with Node, and names itself in hints', async () => {
    const place = createPlace()
    onTestFinished(place.remove)
    expect(readFileSync(MAIN, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    const command = join(place.folder, 'commonplace')
    symlinkSync(MAIN, command)
    const made = await run(process.execPath, [command, 'users', 'create', 'ada'], { env: place.env })
    expect(made.stdout).toMatch(/ with the same DATABASE_URL: commonplace keys create --user ada /)
    const local = await run(process.execPath, [command, 'users', 'create', 'ada'], {
      env: { ...place.env, DATABASE_URL: '' },
      cwd: place.folder,
    })
    expect(local.stdout).toMatch(/Create a key with: commonplace keys create --user ada /)
  })
})
