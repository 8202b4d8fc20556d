import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { ALLOCATOR, HEAP_FLAGS } from '../../src/cli/start-process.ts'
import { run } from '../support/processes.ts'

/** What can be said of the image without building it. test/long/image.test.ts builds and starts it. */
const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const DOCKERFILE = read('Dockerfile')

/** The words of the command after an instruction, or after a flag on its line. */
function commandOf(pattern: RegExp): string[] {
  return JSON.parse(pattern.exec(DOCKERFILE)?.[1] ?? '[]')
}

it('lets everything through that the Dockerfile copies', () => {
  const sources = [...DOCKERFILE.matchAll(/^COPY (?!--from=)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '))
  const allowed = [...read('.dockerignore').matchAll(/^!(\S+)$/gm)].map(([, name]) => name)
  expect(sources.length).toBeGreaterThan(5)
  expect(sources.filter((source) => !allowed.includes(source))).toEqual([])
})

it('builds on the Node that is installed with the packages', () => {
  const { version } = JSON.parse(read('node_modules/node/package.json'))
  expect(DOCKERFILE).toContain(`ARG NODE_IMAGE=node:${version}-slim\n`)
  expect(DOCKERFILE.match(/^FROM .*/gm)).toEqual(['FROM ${NODE_IMAGE} AS build', 'FROM ${NODE_IMAGE}'])
})

it.each(['x64', 'arm64'])('finds its packages with a binary in the lock file on %s', (architecture) => {
  const { packages } = JSON.parse(read('package-lock.json'))
  for (const name of ['@resvg/resvg-js-linux', '@rolldown/binding-linux']) {
    expect(packages[`node_modules/${name}-${architecture}-gnu`]).toMatchObject({ cpu: [architecture], os: ['linux'] })
  }
})

it('starts the service with its heap flags, so that it does not start itself anew', () => {
  expect(commandOf(/^CMD (\[.*\])$/m)).toEqual(['node', ...HEAP_FLAGS, 'dist/cli/main.js', 'serve', '--starter'])
})

it('sets nothing that a secret in a file would collide with', () => {
  const [, environment = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(DOCKERFILE) ?? []
  expect(environment.match(/\w+(?==)/g)).toEqual(['NODE_ENV', ...Object.keys(ALLOCATOR), 'HOST', 'PORT'])
})

it('is healthy while the service is ready', async () => {
  const [, ...args] = commandOf(/^HEALTHCHECK [^[]*CMD (\[.*\])$/m)
  expect(args.join(' ')).toContain('process.env.PORT || 3000')
  let status = 200
  const paths: (string | undefined)[] = []
  const service = createServer(({ url }, response) => {
    paths.push(url)
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  const { port } = service.address() as AddressInfo
  const check = async () => (await run(process.execPath, args, { env: { PORT: String(port) } })).code
  expect(await check()).toBe(0)
  status = 503
  expect(await check()).toBe(1)
  expect(paths).toEqual(['/readyz', '/readyz'])
  await new Promise((resolve) => service.close(resolve))
  expect(await check()).toBe(1)
})
