import { execFile } from 'node:child_process'
import { lstat, realpath, rename, rm } from 'node:fs/promises'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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
  // Its many lines would stand in place of the reason.
  '-c',
  'advice.pushUpdateRejected=false',
]
/** How Git says that somebody else pushed first; not that the remote refuses the push. */
const OVERTAKEN = /\((?:fetch first|non-fast-forward)\)|cannot lock ref|failed to (?:update ref|lock)/
/** The folders that are synced. */
const SYNCED = ['prompts', 'skills']
/** Variables that lead Git to another repository, index or configuration than that of the folder: a hook that calls us sets them. */
const MISLEADING =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|CONFIG(?:_.*)?)$/i
const SSH_SHORT = /^(?:[\w.][\w.-]*@)?[\w.][\w.-]*:(?![:/\\])[^\s]+$/

/**
 * Keys of a repository's own configuration that name no program, no other file of settings and no place to fetch from unasked. New keys of Git
 * may name one, so what is not here is refused.
 */
const PLAIN_KEYS = new RegExp(
  `^(?:${[
    'core\\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|longpaths|quotepath)',
    'extensions\\.(?:objectformat|refstorage)',
    'remote\\..*\\.(?:url|pushurl|fetch|push|prune|tagopt|mirror)',
    'branch\\..*|color\\..*|user\\.(?:name|email|signingkey)|init\\.defaultbranch|pull\\.(?:ff|rebase)|push\\.(?:default|autosetupremote)',
    'fetch\\.prune|gc\\.auto|receive\\.deny\\w+|submodule\\..*\\.(?:url|active)|lfs\\.repositoryformatversion|lfs\\..*\\.access',
  ].join('|')})$`,
)

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
        const verb = args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== '-c')
        const said = stderr.trim().split('\n').slice(-3).join(' ').slice(0, 500)
        reject(
          new AppError('unavailable', missing ? 'Git is not installed.' : `git ${verb} failed: ${said || error.message.slice(0, 200)}`),
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

/**
 * Refuses a repository that somebody else may have made, when its own configuration could lead Git to a program (filters, signatures, includes).
 * @throws AppError `unavailable` naming the first such key
 */
export async function checkConfiguration(folder: string): Promise<void> {
  const keys = (await runGit(folder, ['config', '--local', '--list', '--name-only', '-z'])).split('\0')
  const key = keys.find((name) => name !== '' && !PLAIN_KEYS.test(name))
  if (key === undefined) return
  const why = 'could run a program, and is not obeyed here'
  throw new AppError(
    'unavailable',
    `The Git configuration of ${folder} sets ${key.slice(0, 80)}, which ${why}. Remove it, or run Git yourself.`,
  )
}

/** Whether a target is a repository on this machine, whose own configuration Git would obey. */
function findLocalFolder(address: string): string | null {
  if (address.startsWith('file:')) return fileURLToPath(address)
  return isGitAddress(address) ? null : address
}

async function checkAddress(address: string): Promise<void> {
  const local = findLocalFolder(address)
  if (local !== null) await checkConfiguration(local)
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
 * @param options.takesIgnored for a clone: a copy of a conflict is committed even where the repository ignores its name
 * @returns whether there was something to commit
 */
export async function commitPaths(
  folder: string,
  paths: readonly string[],
  message: string,
  { takesIgnored }: { takesIgnored: boolean } = { takesIgnored: false },
): Promise<boolean> {
  const tracked = new Set((await runGit(folder, ['ls-files', '-z', '--', ...SYNCED])).split('\0'))
  // A folder in the place of a removed file is not taken: it may hold secrets.
  const isKnown = async (path: string) => (await lstat(join(folder, path)).catch(() => null))?.isFile() ?? tracked.has(path)
  const found: string[] = []
  for (const path of new Set(paths)) if (await isKnown(path)) found.push(path)
  const ignored = takesIgnored ? new Set() : await findIgnored(folder, found)
  const known = found.filter((path) => !ignored.has(path))
  if (known.length === 0) return false
  const [list, from] = [known.join('\0'), ['--pathspec-from-file=-', '--pathspec-file-nul']]
  await runGit(folder, ['add', '--all', ...(takesIgnored ? ['--force'] : []), ...from], list)
  if (await succeeds(runGit(folder, ['diff', '--cached', '--quiet', '--', ...SYNCED]))) return false
  await runGit(folder, [...(await identity(folder)), 'commit', '--quiet', '--no-verify', '--only', '-m', message, ...from], list)
  return true
}

/** The paths among these that Git ignores: none that is committed already. */
export async function findIgnored(folder: string, paths: readonly string[]): Promise<Set<string>> {
  const args = ['--no-literal-pathspecs', 'check-ignore', '-z', '--stdin']
  // It fails when nothing is ignored.
  const said = await runGit(folder, args, paths.join('\0')).catch(() => '')
  return new Set(said.split('\0').filter((path) => path !== ''))
}

/**
 * Brings the clone of a repository to what the remote has, or makes it. A clone is a cache: what a killed sync left in it, also commits that
 * were not pushed, is thrown away, and the next steps make it again.
 */
export async function openClone(address: string, folder: string): Promise<void> {
  await checkAddress(address)
  if (await succeeds(resetClone(folder))) return
  // There is none, it is damaged, or the remote has another branch now.
  const fresh = `${folder}.new`
  await rm(fresh, { recursive: true, force: true })
  await makeClone(address, fresh)
  await rm(folder, { recursive: true, force: true })
  await rename(fresh, folder)
}

/** Clones a repository into a folder that does not exist yet. */
export async function makeClone(address: string, folder: string): Promise<void> {
  await checkAddress(address)
  await runGit(null, ['clone', '--quiet', '--origin', 'origin', '--no-recurse-submodules', '--', address, folder])
}

async function resetClone(folder: string): Promise<string> {
  // Git would go to a repository that the cache is in, and change that one.
  if ((await placeInWorkTree(folder)) !== 'top') throw new AppError('unavailable', `${folder} is no clone.`)
  await runGit(folder, ['fetch', '--quiet', '--prune', '--no-recurse-submodules', 'origin'])
  await runGit(folder, ['reset', '--quiet', '--hard', await remoteBranch(folder)])
  return await runGit(folder, ['clean', '--quiet', '-ffdx'])
}

/** The branch of the remote that is checked out, as the clone knows it. */
async function remoteBranch(folder: string): Promise<string> {
  return `refs/remotes/origin/${await readBranch(folder)}`
}

async function readBranch(folder: string): Promise<string> {
  return (await runGit(folder, ['symbolic-ref', '--short', 'HEAD'])).trim()
}

async function readCommit(folder: string, name: string): Promise<string | null> {
  return await runGit(folder, ['rev-parse', '--verify', '--quiet', name]).then(
    (text) => text.trim(),
    () => null,
  )
}

/** Pushes what was committed. @returns false when the remote has new commits, which must be read first */
export async function pushClone(address: string, folder: string): Promise<boolean> {
  const ours = await readCommit(folder, 'HEAD')
  if (ours === null || ours === (await readCommit(folder, await remoteBranch(folder)))) return true
  try {
    // Settings of ours do not reach the receiving side: a local repository's hooks would run on this machine.
    const receiver = findLocalFolder(address) === null ? [] : [`--receive-pack=git -c core.hooksPath=${devNull} receive-pack`]
    const args = ['push', '--quiet', ...receiver, 'origin', `HEAD:refs/heads/${await readBranch(folder)}`]
    await runGit(folder, args)
    return true
  } catch (error) {
    if (error instanceof AppError && OVERTAKEN.test(error.message)) return false
    throw error
  }
}
