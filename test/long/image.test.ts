import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { listenHere, untilPrinted } from '../support/children.ts'
import { buildImage, type Container, createContainer, findObstacle, type Image, signalChildOf } from '../support/image.ts'
import { findFreePort } from '../support/postgres-server.ts'

/**
 * The image, built from the Dockerfile and run as process 1 and user 1000 on a read-only root.
 * Not covered: Docker's own networks, volumes, seccomp profile and limits, and the image of Node that the Dockerfile names.
 */

const obstacle = await findObstacle()
if (obstacle !== null) process.stderr.write(`\nSKIPPED: the Dockerfile is neither built nor run, because ${obstacle}.\n`)

/** How long stopping may take: Docker kills after ten seconds. */
const STOP_MS = 8_000
const MAIN = ['node', 'dist/cli/main.js']

const listed = z.object({ prompts: z.array(z.object({ id: z.string(), approximate: z.boolean().optional() })) })

/** The ids of prompts about herons. */
async function findHerons(url: string): Promise<string[]> {
  const { prompts } = listed.parse(await (await fetch(`${url}/api/prompts?q=heron`)).json())
  // Those that hold the word: the encoder finds others by their meaning.
  return prompts.filter(({ approximate }) => !approximate).map(({ id }) => id)
}

describe.skipIf(obstacle !== null)('the image', () => {
  let image: Image
  let container: Container
  let data: string
  const started: ChildProcess[] = []

  beforeAll(async () => {
    image = await buildImage()
    data = mkdtempSync('/var/tmp/commonplace-data-')
    chownSync(data, 1000, 1000)
    container = createContainer(image, data)
  }, 600_000)
  afterEach(() => {
    for (const child of started.splice(0)) if (child.exitCode === null) signalChildOf(child, 'SIGKILL')
  })
  afterAll(() => {
    rmSync(data, { recursive: true, force: true })
    image.remove()
  })

  /** Starts the service. */
  function start(env: Record<string, string>) {
    const child = container.start(env)
    started.push(child)
    return { child, exited: once(child, 'exit') }
  }

  async function startOnPort() {
    const port = String(await findFreePort())
    const service = start({ PORT: port })
    const said = await untilPrinted(service.child, /Stop with/)
    return { ...service, said, port, url: `http://127.0.0.1:${port}` }
  }

  async function runMain(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await container.run([...MAIN, ...args])
    expect(code, stderr).toBe(0)
    return stdout
  }

  it('has the program, what it reads, and its one package with a binary', () => {
    expect(readdirSync(join(image.root, 'app')).toSorted()).toEqual(
      ['LICENSE', 'assets', 'data', 'dist', 'docs', 'node_modules', 'package.json', 'starter'].toSorted(),
    )
    expect(readdirSync(join(image.root, 'app/node_modules'))).toEqual(['@resvg'])
    expect(image.addedBytes).toBeGreaterThan(1e6)
    // 48 MiB, as `npm run size` counts, with room for the archive around them.
    expect(image.addedBytes).toBeLessThan(53e6)
    expect(image.config).toMatchObject({ User: '1000:1000', WorkingDir: '/app', Volumes: { '/data': {} } })
  })

  it('can write to its volume alone', async () => {
    const tried =
      'id -u; for folder in /data / /app /tmp /var/tmp /usr/tmp; do touch $folder/x 2> /dev/null && echo $folder; done; rm /data/x'
    expect((await container.run(['sh', '-c', tried])).stdout).toBe('1000\n/data\n')
  })

  it('starts, is healthy, takes large items, answers MCP, draws, and stops in time', { timeout: 120_000 }, async () => {
    const service = await startOnPort()
    expect(service.said).toMatch(/Loaded the starter library: \d+ prompts and skills\.[\s\S]*\/sign-up\?code=/)
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    const [, ...healthcheck] = image.config.Healthcheck.Test
    expect((await container.run(healthcheck, { PORT: service.port })).code).toBe(0)
    expect((await container.run(healthcheck, { PORT: String(await findFreePort()) })).code).toBe(1)

    // Both are more than SQLite keeps in memory by itself.
    const content = 'Describe the heron in one more sentence. '.repeat(4_500)
    writeFileSync(join(data, 'prompts.jsonl'), `${JSON.stringify({ title: 'Heron', content })}\n`)
    const skill = join(data, 'skills/tidy')
    mkdirSync(skill, { recursive: true })
    writeFileSync(join(skill, 'SKILL.md'), '---\nname: tidy\ndescription: Tidy a room.\n---\nTidy.\n')
    for (const room of ['attic', 'cellar', 'hall']) writeFileSync(join(skill, `${room}.txt`), `The ${room}.\n`.repeat(80_000))
    await runMain('import', 'prompts', '/data/prompts.jsonl', '--user', 'alice', '--public')
    await runMain('import', 'skills', '/data/skills', '--user', 'alice', '--public')

    const client = new Client({ name: 'image-test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/api/mcp`)))
    const found = await client.callTool({ name: 'search_prompts', arguments: { query: 'heron' } })
    expect(JSON.stringify(found)).toContain('Heron')
    await client.close()

    const [id] = await findHerons(service.url)
    const picture = await fetch(`${service.url}/api/embed/image/${id}.png`)
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png'])

    const sent = performance.now()
    signalChildOf(service.child, 'SIGTERM')
    expect(await service.exited).toEqual([0, null])
    expect(performance.now() - sent).toBeLessThan(STOP_MS)
  })

  it('has its library again after a start', async () => {
    const service = await startOnPort()
    expect(service.said).not.toContain('Loaded the starter library')
    expect((await findHerons(service.url)).length).toBe(1)
    expect(await (await fetch(`${service.url}/readyz`)).json()).toMatchObject({ encoder: expect.stringMatching(/^(embedding|ready)$/) })
    signalChildOf(service.child, 'SIGTERM')
    expect(await service.exited).toEqual([0, null])
  })

  it('backs up its library', async () => {
    await runMain('backup', '/data/backup.db')
    expect(readdirSync(data)).toContain('backup.db')
  })

  // The kernel drops signals that process 1 does not handle.
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('ends at %s while it starts, on a database whose address is in a file', async (name, status) => {
    // A server that takes connections and says nothing: the start waits for it.
    const silent = createServer()
    const port = await listenHere(silent)
    writeFileSync(join(data, 'database-url'), `postgres://ann:hush@127.0.0.1:${port}/library\n`)
    const connected = once(silent, 'connection')
    const service = start({ PORT: String(await findFreePort()), DATABASE_URL_FILE: '/data/database-url' })
    const [socket] = await connected
    signalChildOf(service.child, name)
    expect(await service.exited).toEqual([status, null])
    socket.destroy()
    silent.close()
  })
})
