// Finds the browser of the tests, or installs it: Debian's own Chromium, where this runs as root on Debian.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

/** The program to start as a browser: what `CHROMIUM_PATH` names, one of the system's, or one Playwright has downloaded; null when there is none. */
export function findBrowser(): string | null {
  const named = process.env['CHROMIUM_PATH']?.trim()
  // A wrong path is a mistake to be told of, not a reason to look elsewhere.
  if (named) return existsSync(named) ? named : null
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/bin', '/snap/bin']
  const found = folders.flatMap((folder) => NAMES.map((name) => `${folder}/${name}`)).find((path) => existsSync(path))
  return found ?? [chromium.executablePath()].find((path) => existsSync(path)) ?? null
}

/** Debian alone: what is called chromium on its descendants is often an empty package. */
function isDebian(): boolean {
  return existsSync('/etc/os-release') && /^ID="?debian"?$/m.test(readFileSync('/etc/os-release', 'utf8'))
}

/** What to do when there is no browser, in one sentence with one command. */
export function adviseOnBrowser(): string {
  if (process.env['CHROMIUM_PATH']?.trim()) return 'CHROMIUM_PATH names a file that is not there: name a Chromium or Chrome, or unset it.'
  const command = isDebian()
    ? `${process.getuid?.() === 0 ? '' : 'sudo '}apt-get install -y chromium`
    : 'npx playwright-core install chromium'
  return `The tests in a browser need Chromium. Install it with: ${command}`
}

/** Runs apt-get without a question; its output goes to stderr. */
function runApt(...args: readonly string[]): boolean {
  const { status } = spawnSync('apt-get', [...args], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  return status === 0
}

if (import.meta.main) {
  const isAsked = !process.argv.includes('--before-tests')
  if (findBrowser() === null && process.getuid?.() === 0 && isDebian()) {
    const install = () => runApt('install', '-y', '--no-install-recommends', 'chromium')
    // The lists of a fresh machine are empty or old.
    if (!install() && runApt('update')) install()
  }
  const browser = findBrowser()
  if (browser !== null && isAsked) process.stdout.write(`The tests use ${browser}\n`)
  if (browser === null) {
    process.stderr.write(`${adviseOnBrowser()}\n`)
    // Before the tests this is a notice alone: those that need a browser fail with the same sentence, and all others run.
    if (isAsked) process.exit(1)
  }
}
