import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { type Finished, run } from './processes.ts'

/** Builds the Dockerfile as Docker would, on a base image made here of Debian and the pinned Node, and runs the image without a container runtime. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const NODE = join(ROOT, 'node_modules/node/bin/node')
const PACKAGES = ['buildah', 'mmdebstrap']
const DEBIAN = 'bookworm'
const BASE = 'localhost/commonplace-node'
const IMAGE = 'localhost/commonplace'
/** Longest time one step of the build may take; npm's downloads are the longest. */
const STEP_MS = 400_000

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** Why no image can be built here, or null. Installs what is missing where it can. */
export async function findObstacle(): Promise<string | null> {
  if (process.platform !== 'linux') return `it needs Linux, and this is ${process.platform}`
  if (process.getuid?.() !== 0) return 'it needs root'
  if ((await run('unshare', ['--mount', '--pid', '--fork', 'true'])).code !== 0) return 'unshare may not make namespaces here'
  if (PACKAGES.every(has)) return null
  if (!has('apt-get')) return `it needs ${PACKAGES.join(' and ')}, and there is no apt-get to install them`
  const apt = async (...args: string[]) =>
    (await run('apt-get', args, { env: { DEBIAN_FRONTEND: 'noninteractive' }, timeoutMs: STEP_MS })).code === 0
  const install = () => apt('install', '-y', '--no-install-recommends', ...PACKAGES)
  // The lists of a fresh machine are empty or old.
  if ((await install()) || ((await apt('update')) && (await install()))) return null
  return `apt-get could not install ${PACKAGES.join(' and ')}`
}

const inspected = z.object({
  Docker: z.object({
    config: z.object({
      User: z.string(),
      WorkingDir: z.string(),
      Env: z.array(z.string()),
      Cmd: z.array(z.string()),
      Volumes: z.record(z.string(), z.unknown()),
      Healthcheck: z.object({ Test: z.array(z.string()) }),
    }),
  }),
})

/** An image that was built, with its files laid out. */
export interface Image {
  readonly config: z.infer<typeof inspected>['Docker']['config']
  /** Where its file system is. */
  readonly root: string
  /** What it adds to its base, in bytes. */
  readonly addedBytes: number
  remove(): void
}

/** Runs a step to its end. @throws with what it wrote, when it fails */
async function step(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, { cwd: ROOT, timeoutMs: STEP_MS, env })
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${(stdout + stderr).slice(-4000)}`)
  return stdout.trim()
}

/** Builds the image. Storage is a folder of its own, which `remove` takes away. */
export async function buildImage(): Promise<Image> {
  // Some GB: not in /tmp, which may be memory.
  const folder = mkdtempSync('/var/tmp/commonplace-image-')
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const buildah = (...args: string[]) =>
    step('buildah', ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs', ...args], {
      TMPDIR: folder,
    })
  try {
    const archive = join(folder, 'base.tar')
    await step('mmdebstrap', ['--variant=minbase', '--include=libstdc++6', DEBIAN, archive, ...(await findMirror())], { TMPDIR: folder })
    const base = await buildah('from', 'scratch')
    await buildah('add', base, archive, '/')
    rmSync(archive)
    await layOutNode(await buildah('mount', base))
    await buildah('umount', base)
    await buildah('commit', '--rm', base, BASE)
    const volumes = (await configureNpm(folder)).flatMap((volume) => ['--volume', volume])
    const how = ['--isolation', 'chroot', '--pull-never', '--format', 'docker', '--build-arg', `NODE_IMAGE=${BASE}`]
    await buildah('build', ...how, ...volumes, '--tag', IMAGE, '.')
    const container = await buildah('from', '--pull-never', IMAGE)
    const sizeOf = async (image: string) => Number(JSON.parse(await buildah('images', '--json', image))[0].size.replace(/ MB$/, '')) * 1e6
    return {
      config: inspected.parse(JSON.parse(await buildah('inspect', '--type', 'image', IMAGE))).Docker.config,
      root: await buildah('mount', container),
      addedBytes: (await sizeOf(IMAGE)) - (await sizeOf(BASE)),
      remove,
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** Where this machine gets Debian from, as mmdebstrap takes it: nothing for Debian's own. */
async function findMirror(): Promise<string[]> {
  const targets = await run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages', `Codename: ${DEBIAN}`])
  const [first] = targets.stdout.split('\n')
  return first ? [first] : []
}

/** The pinned Node and this machine's npm, where the image of Node has them. */
async function layOutNode(root: string): Promise<void> {
  cpSync(NODE, join(root, 'usr/local/bin/node'))
  const npm = realpathSync(await step('sh', ['-c', 'command -v npm']))
  cpSync(dirname(dirname(npm)), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
}

/** Mounts with which npm in the build downloads as npm does here: its settings, its cache and its certificates. None of them gets into the image. */
async function configureNpm(folder: string): Promise<string[]> {
  const read = async (name: string) => {
    const value = await step('npm', ['config', 'get', name])
    return value === '' || value === 'null' || value === 'undefined' ? null : value
  }
  const certificates = (await read('cafile')) ?? process.env['NODE_EXTRA_CA_CERTS'] ?? null
  const settings = { registry: await read('registry'), proxy: await read('proxy'), 'https-proxy': await read('https-proxy') }
  const lines = Object.entries({ ...settings, noproxy: await read('noproxy'), cafile: certificates, 'prefer-offline': 'true' })
  const common = join(folder, 'npmrc')
  writeFileSync(common, lines.map(([name, value]) => (value === null ? '' : `${name}=${value}\n`)).join(''), { mode: 0o600 })
  const own = await read('userconfig')
  const cache = await read('cache')
  if (cache !== null) mkdirSync(cache, { recursive: true })
  return [
    `${common}:/usr/local/etc/npmrc:ro`,
    ...(own !== null && existsSync(own) ? [`${own}:/root/.npmrc:ro`] : []),
    ...(cache !== null ? [`${cache}:/root/.npm`] : []),
    ...(certificates !== null ? [`${certificates}:${certificates}:ro`] : []),
  ]
}

/**
 * Makes a container of an image's files, and becomes its command as process 1: mount and process namespaces of its own, a read-only root with
 * nothing but the data to write to, no capability, and no way to get one. Network, users and limits are the machine's.
 */
const ENTER = `set -eu
root=$1 data=$2
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount -t proc proc "$root/proc"
mount -t tmpfs -o size=64k,mode=755 tmpfs "$root/dev"
for device in null zero urandom; do
  : > "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -o remount,ro "$root/dev"
mount -o remount,bind,ro "$root"
exec chroot "$root" "$@"`

/** A data volume, and what runs on it. */
export interface Container {
  /** Runs a command as `docker run` would, to its end. */
  run(command: readonly string[], env?: Record<string, string>): Promise<Finished>
  /** Starts the image's own command. Its process 1 is the one child of what this gives; ending the parent does not end it. */
  start(env: Record<string, string>): ChildProcess
}

/** @param data folder of the data volume, which the image's user may write to */
export function createContainer({ config, root }: Image, data: string): Container {
  const [uid, gid] = config.User.split(':')
  const wrap = (command: readonly string[], env: Record<string, string>) => {
    const drop = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--inh-caps=-all', '--bounding-set=-all']
    const environment = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
    const inside = ['setpriv', ...drop, 'env', '--ignore-environment', `--chdir=${config.WorkingDir}`, ...environment, ...command]
    return ['--mount', '--pid', '--fork', 'sh', '-c', ENTER, 'enter', root, data, ...inside]
  }
  return {
    run: (command, env = {}) => run('unshare', wrap(command, env)),
    start: (env) => spawn('unshare', wrap(config.Cmd, env), { stdio: ['ignore', 'pipe', 'pipe'] }),
  }
}

/** Sends a signal to the one child of a process that does not pass signals on. */
export function signalChildOf(parent: ChildProcess, name: NodeJS.Signals): void {
  const [child] = readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8').split(' ')
  process.kill(Number(child), name)
}
