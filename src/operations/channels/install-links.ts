import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { keyNameField } from '../../domain/people/account.ts'
import { withinOf, withinSchema } from '../../domain/people/actor.ts'
import type { StoredKey } from '../../domain/sign-in/keys.ts'
import { parseScope, scopePath } from '../../domain/skills/channel-scope.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { lifetimeRecord, sortWorking, toLifetime } from '../account/keys.ts'
import { noCollection } from '../collections/collections.ts'
import { defineOperation, wholeKeyWrite } from '../core/define-operation.ts'
import { notFound, refInput } from '../core/inputs.ts'
import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'

const DAY_MS = 24 * 3600 * 1000
/** How long a link works unless its maker says otherwise. */
const DEFAULT_DAYS = 90

/** A link without its token. */
export const installLinkRecord = z.object({
  id: z.string(),
  name: z.string(),
  scope: z.string().describe('Path of what it reads, such as /tags/TAG; empty for everything you can see'),
  ...lifetimeRecord,
})

function toRecord(link: StoredKey, nowMs: number): z.infer<typeof installLinkRecord> {
  return { ...toLifetime(link, nowMs), scope: link.path ?? '' }
}

/** Makes a link; this answer is the only place its address is ever shown. */
export const createInstallLink = defineOperation({
  name: 'create_install_link',
  title: 'Create an install link',
  summary:
    'Create an address from which agents can install your private skills too, without a key. It reads what you can see, within a scope, and is shown only once.',
  ...wholeKeyWrite,
  surfaces: { rest: 'POST /api/install-links 201', cli: 'create-install-link name' },
  input: z.object({
    name: keyNameField.describe('Where it will be used, such as a computer or a team'),
    scope: refInput
      .default('')
      .describe(
        'Path of what it reads: /@NAME, /tags/TAG, /categories/CATEGORY, /collections/COLLECTION, /skills/ID; empty for everything you can see',
      ),
    expiresInDays: z.number().int().min(1).max(3650).default(DEFAULT_DAYS),
  }),
  output: z.object({ url: z.string(), link: installLinkRecord }),
  async run({ actor, store, clock, secrets, baseUrl }: Needs<'keys' | 'items' | 'collections', 'clock' | 'secrets' | 'baseUrl'>, input) {
    const user = requireUser(actor)
    if (!user.scopes.has('read'))
      throw new AppError('forbidden', 'An install link reads private items, so this API key needs the "read" scope too.')
    const scope = parseScope(input.scope)
    if (!scope) {
      throw invalidInput(
        'scope',
        'scope must be empty or a path such as /@NAME, /tags/TAG, /categories/CATEGORY, /collections/COLLECTION, /skills/ID or /prompts/ID.',
      )
    }
    if (scope.kind === 'skill' && !(await store.items.findItem(actor, 'skill', scope.ref))) throw notFound('skill')
    if (scope.kind === 'prompt' && !(await store.items.findItem(actor, 'prompt', scope.ref))) throw notFound('prompt')
    if (scope.kind === 'collection' && !(await store.collections.nameCollections(actor, [scope.ref])).has(scope.ref)) throw noCollection()
    const { token, sha256 } = secrets.makeToken('link')
    const expiresAt = new Date(clock() + input.expiresInDays * DAY_MS).toISOString()
    const stored = await store.keys.createKey({
      name: input.name,
      userId: user.userId,
      sha256,
      scopes: ['read'],
      expiresAt,
      link: { path: scopePath(scope), madeBy: user.keyId ?? user.sessionId ?? null },
    })
    return { url: `${baseUrl}/install/${token}`, link: toRecord(stored, clock()) }
  },
})

/** A person's own links: those that work first, then the newest. */
export const listInstallLinks = defineOperation({
  name: 'list_install_links',
  title: 'List install links',
  summary: 'List your install links, without their addresses.',
  scope: 'write',
  needsWholeKey: true,
  surfaces: { rest: 'GET /api/install-links', cli: 'list-install-links' },
  input: z.object({}),
  output: z.object({ links: z.array(installLinkRecord) }),
  async run({ actor, store, clock }: Needs<'keys', 'clock'>) {
    const links = (await store.keys.listLinks(requireUser(actor).userId)).map((link) => toRecord(link, clock()))
    return { links: sortWorking(links) }
  },
})

/** Revokes a person's own link; felt on its next request. */
export const revokeInstallLink = defineOperation({
  name: 'revoke_install_link',
  title: 'Revoke an install link',
  summary: 'Revoke one of your install links permanently. What was installed stays where it is.',
  ...wholeKeyWrite,
  surfaces: { rest: 'DELETE /api/install-links/{id}', cli: 'revoke-install-link id' },
  input: z.object({ id: z.string().max(255) }),
  output: z.object({ success: z.literal(true), name: z.string() }),
  async run({ actor, store }: Needs<'keys'>, { id }) {
    const link = await store.keys.revokeLink(requireUser(actor).userId, id)
    if (!link) throw new AppError('not_found', 'Install link not found.')
    return { success: true as const, name: link.name }
  },
})

/** Tokens made before others are served. */
const SEALED_AT_ONCE = 100
/** The purpose of sealed tokens. */
const PURPOSE = 'archive'
/** How long a token works: clients fetch an archive right after its address. */
const MAX_AGE_MS = 10 * 60_000

const archive = { scope: refInput, name: z.string().max(255), sha256: z.string().length(64) }
const tokenJson = z.object({
  ...archive,
  userId: z.string(),
  username: z.string(),
  keyId: z.string(),
  mayRead: z.boolean(),
  within: withinSchema.nullable(),
  until: z.number(),
})

/** An address for clients that send a key with an index and none with the archives it names. */
export const sealArchives = defineProcedure({
  scope: null,
  input: z.object({ archives: z.array(z.object(archive)) }),
  async run({ actor, sealer, clock }: Needs<never, 'sealer' | 'clock'>, { archives }) {
    const { userId, username, keyId, scopes } = requireUser(actor)
    if (keyId === undefined) throw new AppError('forbidden', 'Only an API key gets tokens for archives.')
    const until = clock() + MAX_AGE_MS
    const reader = { userId, username, keyId, mayRead: scopes.has('read'), within: withinOf(actor), until }
    const tokens: string[] = []
    for (const one of archives) {
      tokens.push(sealer.seal(PURPOSE, JSON.stringify({ ...one, ...reader })))
      if (tokens.length % SEALED_AT_ONCE === 0) await nextTurn()
    }
    return { tokens }
  },
})

/** The archive of a token, while it and the key it was given to work. */
export const openArchive = defineProcedure({
  scope: null,
  input: z.object({ token: z.string().max(4096) }),
  async run({ sealer, clock, store }: Needs<'keys', 'sealer' | 'clock'>, { token }) {
    const opened = tokenJson.safeParse(JSON.parse(sealer.open(PURPOSE, token) ?? 'null'))
    const isOver = !opened.success || opened.data.until <= clock() || (await store.keys.findOverKeys([opened.data.keyId])).length > 0
    if (isOver) throw new AppError('not_found', 'No archive here. Addresses of archives work for ten minutes; load the marketplace again.')
    const { until: _, ...rest } = opened.data
    return rest
  },
})
