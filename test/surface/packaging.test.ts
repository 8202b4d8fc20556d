import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

const UNIT = readFileSync(new URL('../../packaging/commonplace.service', import.meta.url), 'utf8')
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
if (!hasSystemd)
  process.stderr.write('\nSKIPPED: systemd has not read packaging/commonplace.service, because there is no systemd-analyze.\n')

/** Values of a key in a section, in order. */
function valuesOf(section: string, key: string): string[] {
  const part = UNIT.split(/^(?=\[)/m).find((text) => text.startsWith(`[${section}]`)) ?? ''
  return [...part.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)
}

describe('the systemd unit', () => {
  it('is made of sections, keys and comments', () => {
    const others = UNIT.split('\n').filter((line) => !/^(?:|#.*|\[(?:Unit|Service|Install)\]|[A-Z][A-Za-z]+=.*)$/.test(line))
    expect(others).toEqual([])
    expect(UNIT.match(/^\[\w+\]$/gm)).toEqual(['[Unit]', '[Service]', '[Install]'])
  })

  it('runs the program without rights, on a file system it can write to in one place', () => {
    expect(valuesOf('Service', 'ExecStart')).toEqual([
      '/opt/commonplace/node_modules/node/bin/node /opt/commonplace/dist/cli/main.js serve',
    ])
    const expected = {
      User: 'commonplace',
      StateDirectory: 'commonplace',
      WorkingDirectory: '/var/lib/commonplace',
      ProtectSystem: 'strict',
      NoNewPrivileges: 'true',
      CapabilityBoundingSet: '',
      UMask: '0077',
    }
    for (const [key, value] of Object.entries(expected)) expect(valuesOf('Service', key), key).toEqual([value])
    // Set here, it would collide with DATABASE_URL_FILE.
    expect(valuesOf('Service', 'Environment')).toEqual([])
  })
})

describe.skipIf(!hasSystemd)('systemd', () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-unit-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  // It looks whether the program is there.
  const path = join(folder, 'commonplace.service')
  writeFileSync(path, UNIT.replace('/opt/commonplace/node_modules/node/bin/node', process.execPath))
  const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' })

  it('reads the unit without a complaint', () => {
    const { status, stdout, stderr } = analyze('verify', '--man=no', path)
    expect([status, stdout, stderr.split('\n').filter((line) => line.includes('commonplace'))]).toEqual([0, '', []])
  })

  it('finds it well confined', ({ skip }) => {
    const { status, stdout, stderr } = analyze('security', '--offline=true', '--threshold=20', '--no-pager', path)
    if (/unrecognized option/.test(stderr)) skip('this systemd-analyze cannot look at files')
    // Exposure is at most 2.0 of 10.
    expect(status, stdout.slice(-300) + stderr).toBe(0)
  })
})
