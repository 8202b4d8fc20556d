import { createHash } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { displayNameField, emailField } from '../domain/people/account.ts'
import { type Actor, ADMIN_RIGHTS, PERSON_RIGHTS } from '../domain/people/actor.ts'
import { readGroups, toGrants } from '../domain/people/groups.ts'
import { toDay } from '../domain/people/usage.ts'
import type { Clock } from '../domain/ports/environment.ts'
import { PROXY_PROVIDER } from '../domain/sign-in/arrivals.ts'
import { PROXY_SESSION, type ProxySettings } from '../domain/sign-in/sign-in-ways.ts'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'

/** How long the account of what a proxy sends is cached, and how long what that account may do. Whatever ends sessions clears both. */
const ARRIVED_MS = 300_000
const ACTOR_MS = 5_000
const MAX_CACHED = 10_000
/** Longest name of a person, and longest header with groups, that is looked at. */
const MAX_VALUE = 255
const MAX_GROUPS_HEADER = 16_000

/** The parts of a request that are looked at. */
interface ProxiedRequest {
  /** The socket's; no header changes it. */
  readonly remoteAddress: string
  header(name: string): string | undefined
}

/** Sign-in by a header of a reverse proxy. */
export type ProxySignIn = ReturnType<typeof createProxySignIn>

type ProxyStore = Pick<LibraryStore, 'arrivals' | 'people' | 'audit'>

/** The rights that a proxy's sign-in reads and gives. */
interface Rights {
  /** Called when groups changed what somebody may do. */
  onNewRights(): Promise<void>
  /** Clears this cache when another process changed rights. */
  forgetEnded(): Promise<void>
}

export function createProxySignIn(store: ProxyStore, settings: ProxySettings, clock: Clock, rights: Rights) {
  const trusted = toBlockList(settings.trusted)
  /** By a hash of what the proxy sent. */
  const arrived = new LRUCache<string, { readonly userId: string; readonly untilMs: number }>({ max: MAX_CACHED })
  const actors = new LRUCache<string, { readonly actor: Actor; readonly untilMs: number }>({ max: MAX_CACHED })
  let generation = 0
  const clear = () => {
    generation++
    arrived.clear()
    actors.clear()
  }
  const arrive = async (values: ReturnType<typeof readHeaders>, report: (message: string) => void): Promise<string> => {
    const { subject, name, email, groups } = values
    const origin = { actorId: null, keyId: null, surface: 'web' } as const
    const { person, hasNewRights, isJoined, skipped } = await store.audit.actingAs(origin, () =>
      store.arrivals.arrive({
        provider: PROXY_PROVIDER,
        subject,
        name: subject,
        displayName: displayNameField.safeParse(name).data || null,
        email: emailField.safeParse(email).data ?? null,
        grants: settings.groups.length === 0 || groups === null ? null : toGrants(settings.groups, readGroups(groups)),
        allowsNew: true,
      }),
    )
    for (const reason of skipped) report(`Groups of ${person.username} at the proxy: ${reason}`)
    if (hasNewRights || isJoined) await rights.onNewRights()
    return person.id
  }
  return {
    /** Call when sessions end or rights change. */
    clear,
    /**
     * The person that the proxy vouches for; null for a request from elsewhere, and for one without the header.
     * @param report called with a sentence for each right that could not be given or taken
     * @throws AppError `forbidden` for a header that names nobody, or several, and for a suspended account
     */
    async identify(request: ProxiedRequest, report: (message: string) => void): Promise<Actor | null> {
      if (!isTrusted(trusted, request.remoteAddress)) return null
      const values = readHeaders(request, settings)
      if (values.subject === '') return null
      const key = createHash('sha256').update(JSON.stringify(values)).digest('hex')
      await rights.forgetEnded()
      const known = actors.get(key)
      if (known && known.untilMs > clock()) return known.actor
      const before = arrived.get(key)
      const userId = before && before.untilMs > clock() ? before.userId : await arrive(values, report)
      const asked = generation
      const person = await store.people.findPerson(userId)
      if (!person || person.suspendedAt !== null) throw new AppError('forbidden', 'This account is suspended. Ask an administrator.')
      const today = toDay(clock())
      // Best effort, as for sessions.
      if (person.seenOn !== today) store.people.noteSeen(person.id, today).catch(() => {})
      const actor: Actor = {
        kind: 'user',
        userId,
        username: person.username,
        scopes: new Set(person.role === 'admin' ? ADMIN_RIGHTS : PERSON_RIGHTS),
        sessionId: `${PROXY_SESSION} ${userId}`,
        language: person.language,
      }
      // Rights that changed meanwhile may have been read just before.
      if (asked === generation) {
        if (!before || before.untilMs <= clock()) arrived.set(key, { userId, untilMs: clock() + ARRIVED_MS })
        actors.set(key, { actor, untilMs: clock() + ACTOR_MS })
      }
      return actor
    },
  }
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/** Sockets that take both families write IPv4 addresses as `::ffff:192.0.2.1`. */
function isTrusted(list: BlockList, remoteAddress: string): boolean {
  const address = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(remoteAddress)?.[1] ?? remoteAddress
  const version = isIP(address)
  return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4')
}

/** Proxies send UTF-8, which arrives here byte by byte (RFC 9110, section 5.5). Null when it is none. */
function decode(value: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1')).trim()
  } catch {
    return null
  }
}

/** @throws AppError `forbidden` when the header does not name one person: two headers come as one with a comma */
function readHeaders({ header }: ProxiedRequest, { header: own, nameHeader, emailHeader, groupsHeader }: ProxySettings) {
  const subject = decode(header(own) ?? '')
  if (subject === null || subject.length > MAX_VALUE || !/^[\p{L}\p{N}@._+\-/\\: ]*$/u.test(subject)) {
    throw new AppError('forbidden', `The proxy must send one name in the header ${own}, in letters, digits and @ . _ + - / \\ : alone.`)
  }
  const optional = (name: string | null, max: number) => {
    const value = name === null ? null : decode(header(name) ?? '')
    return value === null || value.length > max ? null : value
  }
  return {
    subject,
    name: optional(nameHeader, MAX_VALUE) ?? '',
    email: optional(emailHeader, MAX_VALUE) ?? '',
    groups: optional(groupsHeader, MAX_GROUPS_HEADER),
  }
}
