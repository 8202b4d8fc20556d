import { createHash } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { displayNameField, emailField, type Role } from '../domain/people/account.ts'
import { type Actor, ADMIN_RIGHTS, PERSON_RIGHTS } from '../domain/people/actor.ts'
import type { Person } from '../domain/people/people.ts'
import { toDay } from '../domain/people/usage.ts'
import type { Clock } from '../domain/ports/environment.ts'
import { PROXY_PROVIDER, PROXY_SESSION, type ProxySettings, readGroups, toGrants } from '../domain/sign-in/sign-in-ways.ts'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'

/** How long what a proxy sends of an account is not looked at again: its groups, and the names of a new one. */
const ARRIVED_MS = 300_000
const MAX_ARRIVED = 10_000
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

/** The last arrival of a person: the hash of what was sent, and the account and its role. */
interface Arrived {
  readonly sent: string
  readonly userId: string
  readonly role: Role
  readonly untilMs: number
}

const identityOf = ({ subject }: { readonly subject: string }) => ({ provider: PROXY_PROVIDER, subject })

export function createProxySignIn(store: ProxyStore, settings: ProxySettings, clock: Clock) {
  const trusted = toBlockList(settings.trusted)
  /** The last arrival by the name that the proxy sent. */
  const arrived = new LRUCache<string, Arrived>({ max: MAX_ARRIVED })
  const arrive = async (values: ReturnType<typeof readHeaders>, report: (message: string) => void): Promise<Person> => {
    const { subject, name, email, groups } = values
    const origin = { actorId: null, keyId: null, surface: 'web' } as const
    const { person, skipped } = await store.audit.actingAs(origin, () =>
      store.arrivals.arrive({
        ...identityOf(values),
        name: subject,
        displayName: displayNameField.safeParse(name).data || null,
        email: emailField.safeParse(email).data ?? null,
        grants: settings.groups.length === 0 || groups === null ? null : toGrants(settings.groups, readGroups(groups)),
        allowsNew: true,
      }),
    )
    for (const reason of skipped) report(`Groups of ${person.username} at the proxy: ${reason}`)
    return person
  }
  return {
    /** Looks at everybody's groups again. */
    forgetArrivals: () => arrived.clear(),
    /**
     * The person that the proxy vouches for; null for a request from elsewhere, and for one without the header.
     * @param report called with a sentence for each right that could not be given or taken
     * @throws AppError `forbidden` for a header that names nobody, or several, and for a suspended account
     */
    async identify(request: ProxiedRequest, report: (message: string) => void): Promise<Actor | null> {
      if (!isTrusted(trusted, request.remoteAddress)) return null
      const values = readHeaders(request, settings)
      if (values.subject === '') return null
      const sent = createHash('sha256').update(JSON.stringify(values)).digest('hex')
      const before = arrived.get(values.subject)
      const userId = await store.arrivals.findAccount(identityOf(values))
      const known = userId === null ? null : await store.people.findPerson(userId)
      const isSame = before?.sent === sent && before.userId === userId && before.role === known?.role && before.untilMs > clock()
      const person = known !== null && isSame ? known : await arrive(values, report)
      if (person !== known) arrived.set(values.subject, { sent, userId: person.id, role: person.role, untilMs: clock() + ARRIVED_MS })
      if (person.suspendedAt !== null) throw new AppError('forbidden', 'This account is suspended. Ask an administrator.')
      const today = toDay(clock())
      // Best effort, as for sessions.
      if (person.seenOn !== today) store.people.noteSeen(person.id, today).catch(() => {})
      return {
        kind: 'user',
        userId: person.id,
        username: person.username,
        scopes: new Set(person.role === 'admin' ? ADMIN_RIGHTS : PERSON_RIGHTS),
        sessionId: `${PROXY_SESSION} ${person.id}`,
        language: person.language,
      }
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
