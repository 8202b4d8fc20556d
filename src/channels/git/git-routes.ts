import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { createTally } from '../../domain/service/running-work.ts'
import { type ChannelScope, marketplaceName, parseScope, scopePath } from '../../domain/skills/channel-scope.ts'
import { AppError } from '../../errors.ts'
import type { Answer } from '../../exchange.ts'
import { createPieceSender } from '../../http/answers.ts'
import type { BoundRoute, Call } from '../../http/route.ts'
import type { WorkMeter } from '../../storage/store.ts'
import type { Channel } from '../channel.ts'
import { describeScope, nameReader } from '../marketplace.ts'
import { type FetchPlan, type FetchRequest, readFetch } from './fetch.ts'
import type { RepositoryAbout } from './history.ts'
import { DELIMITER, FLUSH, type PktLine, pktLine, readPktLines } from './pkt-line.ts'
import { createGitThread, createRepositories, type Repository } from './repositories.ts'

/** Largest body of a request, before and after it is inflated. */
const MAX_BODY_BYTES = 1024 * 1024
/** Packs up to this size are answered as a whole. */
const MAX_WHOLE_BYTES = 2 * 1024 * 1024
/** Packs of one caller at the same time. */
const MAX_PACKS = 8
const SERVICE = 'git-upload-pack'
/** No cache keeps what can be withdrawn, and clients always ask. */
const NO_CACHE = { 'cache-control': 'no-cache' }
const RESULT = { 'content-type': `application/x-${SERVICE}-result`, ...NO_CACHE }
const CAPABILITIES = ['version 2\n', 'agent=commonplace\n', 'ls-refs=unborn\n', 'fetch=shallow\n', 'object-format=sha1\n']
const OLD_CLIENT = 'This remote only supports protocol version 2. Use Git 2.26 or newer, or 2.18 with -c protocol.version=2.'

const inflate = promisify(gunzip)

/** The library as a read-only Git remote: smart HTTP, version 2 of the protocol (git-scm.com, "protocol-v2", "http-protocol"). */
export function gitRoutes(channel: Channel, readRevision: () => Promise<number>) {
  const thread = createGitThread()
  const openRepository = createRepositories(readRevision, thread, (scope, audience) => describeRepository(channel, scope, audience))
  const sendPieces = createPieceSender()
  const packs = createTally()
  const open = async (call: Call): Promise<Repository & { readonly branch: string }> => {
    const scope = parseScope(call.params['scope'] ?? '')
    if (!scope || scope.only !== undefined) throw new AppError('not_found', 'Nothing found at this address.')
    const audience = nameReader(call.actor, call.exchange.path)
    const reader = { actor: call.actor, audience, caller: call.caller, call: channel.call(call), charge: call.charge }
    return { ...(await openRepository(reader, scope)), branch: branchOf(scope) }
  }
  const usesVersion2 = ({ exchange }: Call) => /(?:^|:)version=2(?:$|:)/.test(exchange.header('git-protocol') ?? '')

  /** The parts of a pack's answer. The thread keeps the pack until all of it is taken, or the reader leaves. */
  async function* readPack(head: Uint8Array, pack: string, work: WorkMeter, release: () => void): AsyncGenerator<Uint8Array, undefined> {
    let isTaken = false
    try {
      yield head
      while (!isTaken) {
        const told = await thread.ask({ kind: 'next', pack }, work).catch((error: unknown) => {
          // A thread that ended has no packs, and starts again only for a new question.
          isTaken = true
          throw error
        })
        if (told.kind !== 'piece') throw new AppError('unavailable', 'The pack is no longer there. Try again.')
        isTaken = told.bytes === null
        yield told.bytes ?? FLUSH
      }
    } finally {
      release()
      if (!isTaken) await thread.ask({ kind: 'cancel', pack }).catch(() => {})
    }
  }
  const sendPack = async ({ caller }: Call, pieces: AsyncGenerator<Uint8Array, undefined>): Promise<Answer> => {
    const first: Uint8Array[] = []
    try {
      for (let size = 0; size < MAX_WHOLE_BYTES; ) {
        const { done, value } = await pieces.next()
        if (done) return result(first)
        first.push(value)
        size += value.length
      }
      const rest: AsyncIterator<Uint8Array, undefined> = {
        next: async () => (first.length > 0 ? { done: false, value: Buffer.concat(first.splice(0)) } : await pieces.next()),
        return: () => pieces.return(undefined),
      }
      return sendPieces(caller, rest, RESULT)
    } catch (error) {
      await pieces.return(undefined)
      throw error
    }
  }
  const fetch = async (call: Call, repository: Repository, request: FetchRequest): Promise<Answer> => {
    if (packs.of(call.caller) >= MAX_PACKS) {
      throw new AppError('rate_limited', `You already have ${MAX_PACKS} clones running. Wait for one to finish.`, { retryAfterSeconds: 5 })
    }
    const release = packs.add(call.caller)
    const told = await repository.fetch(request, call.work).catch((error: unknown) => {
      release()
      throw error
    })
    if (told.kind !== 'plan' || told.pack === null) release()
    if (told.kind !== 'plan') throw new AppError('unavailable', 'The Git repository could not be read. Try again in a moment.')
    const { plan, pack } = told
    if (plan.unknown !== null) return result([pktLine(`ERR upload-pack: not our ref ${plan.unknown}\n`)])
    const head = sayPlan(plan, pack !== null, request)
    if (pack === null) return result(head)
    return await sendPack(call, readPack(Buffer.concat(head), pack, call.work, release))
  }

  const routes: BoundRoute[] = [
    {
      method: 'GET',
      kind: 'channel',
      cost: 5,
      path: '{scope}{git}/info/refs',
      async handle(call) {
        const service = new URLSearchParams(call.exchange.search).get('service')
        if (service === 'git-receive-pack') throw new AppError('forbidden', 'This repository is read-only; change the library instead.')
        if (service !== SERVICE) {
          throw new AppError('invalid_input', `This address is for Git: ask it with ?service=${SERVICE}, as "git clone" does.`)
        }
        await open(call)
        const head = [pktLine(`# service=${SERVICE}\n`), FLUSH]
        const lines = usesVersion2(call) ? CAPABILITIES : [`ERR ${OLD_CLIENT}\n`]
        const headers = { 'content-type': `application/x-${SERVICE}-advertisement`, ...NO_CACHE }
        return { status: 200, headers, body: Buffer.concat([...head, ...lines.map(pktLine), FLUSH]) }
      },
    },
    {
      method: 'POST',
      kind: 'channel',
      cost: 5,
      path: `{scope}{git}/${SERVICE}`,
      bodyLimit: MAX_BODY_BYTES,
      async handle(call) {
        const lines = readPktLines(await readBody(call))
        const repository = await open(call)
        if (!usesVersion2(call)) throw new AppError('invalid_input', OLD_CLIENT)
        const [first] = lines
        const command = first?.kind === 'data' ? first.text : ''
        if (command === 'command=ls-refs') return result([...(await listRefs(repository, lines)), FLUSH])
        if (command === 'command=fetch') return await fetch(call, repository, readFetch(lines))
        throw new AppError('invalid_input', "The request has no command of Git's protocol that is answered here: ls-refs and fetch are.")
      },
    },
  ]
  return { routes, close: () => thread.close() }
}

async function readBody(call: Call): Promise<Uint8Array> {
  const bytes = call.body
  const coding = call.exchange.header('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (coding === 'identity') return bytes
  if (coding !== 'gzip' && coding !== 'x-gzip') throw new AppError('unsupported_media_type', 'Send the body as it is, or with gzip.')
  try {
    return await inflate(bytes, { maxOutputLength: MAX_BODY_BYTES })
  } catch (error) {
    if (error instanceof RangeError) throw new AppError('too_large', `The body exceeds ${MAX_BODY_BYTES} bytes when inflated.`)
    throw new AppError('invalid_input', 'The body is not valid gzip.', { cause: error })
  }
}

function result(pieces: readonly Uint8Array[]): Answer {
  return { status: 200, headers: RESULT, body: Buffer.concat(pieces) }
}

/** The branch of a scope that a clone checks out: that of the label in its address, if there is one. */
const branchOf = ({ label }: ChannelScope): string => label ?? 'main'

async function listRefs({ tip, branch, readTips }: Repository & { readonly branch: string }, lines: readonly PktLine[]): Promise<Buffer[]> {
  const words = lines.flatMap((line) => (line.kind === 'data' ? line.text : []))
  const prefixes = words.flatMap((word) => (word.startsWith('ref-prefix ') ? word.slice('ref-prefix '.length) : []))
  const isWanted = (name: string) => prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix))
  const refOf = (name: string) => `refs/heads/${name}`
  const symref = words.includes('symrefs') ? ` symref-target:${refOf(branch)}` : ''
  if (tip === null) return words.includes('unborn') && isWanted('HEAD') ? [pktLine(`unborn HEAD${symref}\n`)] : []
  const tips = new Map([[branch, tip], ...(await readTips((label) => isWanted(refOf(label))))])
  const refs = [...tips].flatMap(([name, id]) => (isWanted(refOf(name)) ? [pktLine(`${id} ${refOf(name)}\n`)] : []))
  return [...(isWanted('HEAD') ? [pktLine(`${tip} HEAD${symref}\n`)] : []), ...refs]
}

/** The lines before a pack. */
function sayPlan(plan: Omit<FetchPlan, 'objects'>, hasPack: boolean, { isDone }: FetchRequest): Buffer[] {
  const said: Buffer[] = []
  if (!isDone && plan.common.length + Number(!hasPack) > 0) {
    said.push(pktLine('acknowledgments\n'))
    if (plan.common.length === 0) said.push(pktLine('NAK\n'))
    for (const id of plan.common) said.push(pktLine(`ACK ${id}\n`))
    if (!hasPack) return [...said, FLUSH]
    said.push(pktLine('ready\n'), DELIMITER)
  }
  if (plan.boundary) {
    const { shallow, unshallow } = plan.boundary
    const lines = [...shallow.map((id) => `shallow ${id}\n`), ...unshallow.map((id) => `unshallow ${id}\n`)]
    said.push(pktLine('shallow-info\n'), ...lines.map(pktLine), DELIMITER)
  }
  said.push(pktLine('packfile\n'))
  return said
}

/** The description of a repository, which follows from its address and its audience alone. */
function describeRepository(channel: Channel, scope: ChannelScope, audience: string): RepositoryAbout {
  const { name, baseUrl } = channel
  const path = scopePath(scope)
  const clone = `${baseUrl}${path === '' ? '/library' : path}.git`
  const description = describeScope(channel, { scope })
  return {
    name: name.replaceAll(/\s+/g, '-').toLowerCase(),
    host: new URL(baseUrl).hostname,
    marketplace: marketplaceName(channel.baseUrl, scopePath(scope), audience),
    description: `Skills of ${description}`,
    readme: [
      `# ${description}`,
      '',
      `Prompts and Agent Skills from <${baseUrl}${path}>. This repository is made by the service and is read-only; change the library instead.`,
      '',
      '- `prompts/CATEGORY/NAME.md`: each prompt, with its title, author and tags as frontmatter',
      '- `plugins/NAME`: each skill as a plugin, its files in `plugins/NAME/skills/NAME`',
      '- `.claude-plugin`, `.agents/plugins` and `.cursor-plugin`: the list of plugins, for agents',
      '',
      'What is withdrawn from the library disappears from the history too. `git pull` then refuses; take the new history with',
      '',
      '```sh',
      `git fetch && git reset --hard origin/${branchOf(scope)}`,
      '```',
      '',
      `Clone it with \`git clone ${clone}\`.`,
      '',
    ].join('\n'),
  }
}
