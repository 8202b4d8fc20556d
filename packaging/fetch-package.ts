import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Gets a package from npm's registry, and unpacks it. Gives its folder. @param integrity the digest it must have @throws Error when it has another */
export function fetchPackage(specifier: string, integrity: string, scratch: string): string {
  mkdirSync(scratch, { recursive: true })
  const shell = process.platform === 'win32'
  const packed = execFileSync('npm', ['pack', specifier, '--json', '--pack-destination', scratch], {
    encoding: 'utf8',
    shell,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  const file = join(scratch, filename)
  const found = `sha512-${hash('sha512', readFileSync(file), 'base64')}`
  if (found !== integrity) throw new Error(`${specifier} is not what it was: its digest is ${found}, not ${integrity}.`)
  execFileSync('tar', ['-xzf', file, '-C', scratch])
  return join(scratch, 'package')
}
