import { execFile } from 'node:child_process'
import { lstat, realpath } from 'node:fs/promises'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'

/** How long one Git command may take. */
const GIT_MS = 10 * 60 * 1000
const MAX_OUTPUT = 64 * 1024 * 1024
/** No hook of a repository runs, no address leads to a command, and nothing asks at a terminal. */
const SAFE = [
  '-c',
  `core.hooksPath=${devNull}`,
  '-c',
  'core.fsmonitor=false',
  '-c',
  'protocol.ext.allow=never',
  '-c',
  'submodule.recurse=false',
]
/** The folders that are synced. */
const SYNCED = ['prompts', 'skills']
/** Variables that lead Git to another repository, index or configuration than that of the folder: a hook that calls us sets them. */
const MISLEADING =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|CONFIG(?:_.*)?)$/i
const SSH_SHORT = /^(?:[\w.][\w.-]*@)?[\w.][\w.-]*:(?![:/\\])[^\s]+$/

/** Runs `git` without a shell. @throws AppError `unavailable` with what Git says */
async function runGit(folder: string | null, args: readonly string[], stdin = ''): Promise<string> {
  const all = [...(folder === null ? [] : ['-C', folder]), ...SAFE, ...args]
  const env = { GIT_TERMINAL_PROMPT: '0', GIT_ALLOW_PROTOCOL: 'https:ssh:file', GIT_LITERAL_PATHSPECS: '1', LC_ALL: 'C' }
  // What SSH and credential helpers need stays.
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !MISLEADING.test(name)))
  return await new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      all,
      { env: { ...inherited, ...env }, timeout: GIT_MS, maxBuffer: MAX_OUTPUT },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout)
        const missing = 'code' in error && error.code === 'ENOENT'
        const said = stderr.trim().split('\n').slice(-3).join(' ').slice(0, 500)
        reject(
          new AppError('unavailable', missing ? 'Git is not installed.' : `git ${args[0]} failed: ${said || error.message.slice(0, 200)}`),
        )
      },
    )
    // Git may end before it has read everything.
    child.stdin?.on('error', () => {})
    child.stdin?.end(stdin)
  })
}

const succeeds = (run: Promise<string>) =>
  run.then(
    () => true,
    () => false,
  )

/**
 * Whether a sync's target is the address of a Git repository, and not a folder.
 * @throws AppError `invalid_input` for an address that is not safe to give to Git
 */
export function isGitAddress(target: string): boolean {
  if (target.startsWith('-')) throw new AppError('invalid_input', 'A folder or address must not begin with "-". Write ./ before the name.')
  if (/^[\w+.-]+::/.test(target))
    throw new AppError('invalid_input', 'Git addresses with "::" run commands and are refused. Use https or ssh.')
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(target)) return SSH_SHORT.test(target)
  const url = URL.parse(target)
  if (url === null || !['https:', 'ssh:', 'file:'].includes(url.protocol)) {
    throw new AppError('invalid_input', 'Git addresses must be https, ssh or a local path.')
  }
  if (url.password !== '') {
    throw new AppError('invalid_input', 'A Git address must not contain a password. Use a credential helper of Git, or an SSH key.')
  }
  if (url.hostname.startsWith('-') || url.username.startsWith('-'))
    throw new AppError('invalid_input', 'This Git address has no valid host.')
  return true
}

/** Whether a folder is the top of a Git work tree, or somewhere below it: then the repository is about something else. */
export async function placeInWorkTree(folder: string): Promise<'top' | 'below' | 'outside'> {
  const top = await runGit(folder, ['rev-parse', '--show-toplevel']).then(
    (text) => text.replace(/\n$/, ''),
    () => '',
  )
  if (top === '') return 'outside'
  return (await realpath(top)) === (await realpath(folder)) ? 'top' : 'below'
}

/** Whether a local folder is a repository without files, to which one pushes. */
export async function isBareRepository(folder: string): Promise<boolean> {
  return await runGit(folder, ['rev-parse', '--is-bare-repository']).then(
    (text) => text.trim() === 'true',
    () => false,
  )
}

/** Options that name an author where Git knows none. */
async function identity(folder: string): Promise<string[]> {
  const isKnown = await succeeds(runGit(folder, ['config', 'user.email']))
  return isKnown ? [] : ['-c', 'user.name=Commonplace', '-c', 'user.email=commonplace@localhost']
}

/**
 * Commits files of a work tree, and nothing else that is changed or staged there. Does nothing when they are as committed, or ignored.
 * @param paths of files below the folder
 * @returns whether there was something to commit
 */
export async function commitPaths(folder: string, paths: readonly string[], message: string): Promise<boolean> {
  const tracked = new Set((await runGit(folder, ['ls-files', '-z', '--', ...SYNCED])).split('\0'))
  // A folder in the place of a removed file is not taken: it may hold secrets.
  const isKnown = async (path: string) => (await lstat(join(folder, path)).catch(() => null))?.isFile() ?? tracked.has(path)
  const found: string[] = []
  for (const path of new Set(paths)) if (await isKnown(path)) found.push(path)
  const ignored = new Set(
    // It fails when nothing is ignored.
    (await runGit(folder, ['--no-literal-pathspecs', 'check-ignore', '-z', '--stdin'], found.join('\0')).catch(() => '')).split('\0'),
  )
  const known = found.filter((path) => !ignored.has(path))
  if (known.length === 0) return false
  const [list, from] = [known.join('\0'), ['--pathspec-from-file=-', '--pathspec-file-nul']]
  await runGit(folder, ['add', '--all', ...from], list)
  if (await succeeds(runGit(folder, ['diff', '--cached', '--quiet', '--', ...SYNCED]))) return false
  await runGit(folder, [...(await identity(folder)), 'commit', '--quiet', '--no-verify', '--only', '-m', message, ...from], list)
  return true
}

/** A clone that syncs keep. Paths are those of the state: a prompt's file, or a skill's folder. */
export interface Clone {
  readonly folder: string
  /** Paths that were changed here and there, since the last push: they have no common state any more. */
  readonly diverged: readonly string[]
}

/** Clones a repository, or brings the clone up to date. What was committed here and not pushed stays, where nobody else changed it. */
export async function pullClone(address: string, folder: string, exists: boolean): Promise<Clone> {
  if (!exists) {
    await runGit(null, ['clone', '--quiet', '--no-recurse-submodules', '--', address, folder])
    return { folder, diverged: [] }
  }
  // A sync that was killed before its commit.
  if ((await runGit(folder, ['status', '--porcelain', '-z'])) !== '') await commitAll(folder)
  await runGit(folder, ['fetch', '--quiet', '--no-recurse-submodules', 'origin'])
  return { folder, diverged: await joinUpstream(folder) }
}

async function commitAll(folder: string): Promise<void> {
  await runGit(folder, ['add', '--all'])
  await runGit(folder, [...(await identity(folder)), 'commit', '--quiet', '--no-verify', '-m', 'Sync with Commonplace'])
}

/** Puts unpushed commits on top of the remote's, path by path: never within a file. */
async function joinUpstream(folder: string): Promise<string[]> {
  const branch = (await runGit(folder, ['symbolic-ref', '--short', 'HEAD'])).trim()
  const theirs = await runGit(folder, ['rev-parse', '--verify', '--quiet', `refs/remotes/origin/${branch}`]).then(
    (text) => text.trim(),
    () => null,
  )
  const ours = await runGit(folder, ['rev-parse', '--verify', '--quiet', 'HEAD']).then(
    (text) => text.trim(),
    () => null,
  )
  if (theirs === null || theirs === ours) return []
  if (ours === null) {
    await runGit(folder, ['reset', '--quiet', '--hard', theirs])
    return []
  }
  const base = await runGit(folder, ['merge-base', ours, theirs]).then(
    (text) => text.trim(),
    () => null,
  )
  if (base === theirs) return []
  if (base === null)
    throw new AppError('conflict', 'The history of the repository was replaced. Remove the clone in the cache folder, and sync again.')
  if (base === ours) {
    await runGit(folder, ['merge', '--quiet', '--ff-only', theirs])
    return []
  }
  const listChanges = async (to: string) =>
    (await runGit(folder, ['diff', '--name-only', '--no-renames', '-z', base, to])).split('\0').filter((name) => name !== '')
  const mine = await listChanges(ours)
  const others = new Set((await listChanges(theirs)).map(toUnit))
  const kept = mine.filter((name) => !others.has(toUnit(name)))
  await runGit(folder, ['reset', '--quiet', '--hard', theirs])
  const there = new Set((await runGit(folder, ['ls-tree', '-r', '--name-only', '-z', ours])).split('\0'))
  const from = ['--pathspec-from-file=-', '--pathspec-file-nul']
  const written = kept.filter((name) => there.has(name))
  const removed = kept.filter((name) => !there.has(name))
  if (written.length > 0) await runGit(folder, ['checkout', '--quiet', ours, ...from], written.join('\0'))
  if (removed.length > 0) await runGit(folder, ['rm', '--quiet', '--ignore-unmatch', ...from], removed.join('\0'))
  if (kept.length > 0) await commitAll(folder)
  return [...new Set(mine.map(toUnit))].filter((unit) => others.has(unit))
}

/** What is synced as one: a file, or a skill's folder. */
function toUnit(name: string): string {
  return name.startsWith('skills/') ? name.split('/').slice(0, 2).join('/') : name
}

/** Pushes what is not pushed yet. @returns false when the remote has new commits, which must be pulled first */
export async function pushClone(folder: string): Promise<boolean> {
  const branch = (await runGit(folder, ['symbolic-ref', '--short', 'HEAD'])).trim()
  if (!(await succeeds(runGit(folder, ['rev-parse', '--verify', '--quiet', 'HEAD'])))) return true
  try {
    await runGit(folder, ['push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`])
    return true
  } catch (error) {
    if (error instanceof AppError && /rejected|fetch first|non-fast-forward/i.test(error.message)) return false
    throw error
  }
}
