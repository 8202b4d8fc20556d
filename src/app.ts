import { createHash, createHmac, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createItemEncoding } from './ai/item-encoding.ts'
import { loadWordVectors, rememberVectors } from './ai/kept-vectors.ts'
import { createImprover, createTestModels, type ImproveSettings, type TestSettings } from './ai/models.ts'
import { createRemoteEncoder, createTextEmbedder, type EmbeddingSettings } from './ai/remote-encoder.ts'
import { createAuthLoader, isSafeIssuer, type OAuthSettings } from './auth/better-auth.ts'
import { authenticate, authenticateInstallLink, createApiKey, ENTRIES, type Entry, hashApiKey, LINK_PREFIX } from './auth/credentials.ts'
import { createLogins, type Logins } from './auth/logins.ts'
import { createMailer, type MailSettings } from './auth/mailer.ts'
import { createOAuthServer } from './auth/oauth/oauth-server.ts'
import type { PasswordHasher } from './auth/password-hash.ts'
import { createProviders } from './auth/providers.ts'
import { createProxySignIn, type ProxySignIn } from './auth/proxy-sign-in.ts'
import { createSealer } from './auth/sealer.ts'
import type { Config } from './config/load-config.ts'
import type { LibraryChange } from './domain/items/changes.ts'
import type { Actor } from './domain/people/actor.ts'
import { countFor, countNothing, createUseCounter } from './domain/people/usage.ts'
import type { Encoder } from './domain/ports/encoder.ts'
import type { Clock, Random } from './domain/ports/environment.ts'
import type { LibraryCopy } from './domain/service/transfer.ts'
import { listMappedTeams, type SignInSettings } from './domain/sign-in/sign-in-ways.ts'
import { createEncoder } from './encoder/encoder.ts'
import { AppError } from './errors.ts'
import type { Context } from './operations/core/procedure.ts'
import { OPERATIONS } from './operations/index.ts'
import { listCopies, removeCopies } from './storage/backup/library-copies.ts'
import { type RestoreOptions, type RestoreReport, restoreFile, withRestored } from './storage/backup/restore-backup.ts'
import { type CopyReport, copyLibrary, type Manifest } from './storage/copy/copy-library.ts'
import { backUpFile, checkLibraryFile, writeLibraryFile } from './storage/copy/library-file.ts'
import { readSqliteFile, sqliteDialect } from './storage/dialects/sqlite.ts'
import { examine, type Finding, repair } from './storage/doctor/examine.ts'
import {
  type DatabaseSettings,
  databasePath,
  explain,
  libraryPath,
  markLibrary,
  openDatabase,
  refuseLostLibrary,
  refuseOlderProcess,
  requireFile,
  withDatabase,
} from './storage/open-database.ts'
import { createStore, type LibraryStore, type OpeningProgress } from './storage/store.ts'

/** An opened library with everything that is needed to run operations on it. */
export type App = Awaited<ReturnType<typeof openApp>>

export { listBackups, nameBackup } from './storage/backup/library-copies.ts'
export { describeDatabase } from './storage/open-database.ts'
export type { OpeningProgress } from './storage/store.ts'

/** The settings of the service, with the parts that are made from them. The part counts, not the setting that it was made from. */
export type AppSettings = Config &
  DatabaseSettings & {
    readonly baseUrl: string
    /** Whether `baseUrl` is a guess: the address at which the service was last reached takes its place where the library knows it. Default: false. */
    readonly isBaseUrlGuessed?: boolean
    readonly improve: ImproveSettings
    /** The models that tests of prompts may ask, and their budgets. */
    readonly tests: TestSettings
    /** null: search uses the built-in encoder. */
    readonly embeddings: EmbeddingSettings | null
    /** An encoder where no provider is set, closed with the app; true: the built-in one. Default: none, search works without */
    readonly encoder?: Encoder | boolean
    /** Whether uses are counted; who does writes them now and then. Default: false */
    readonly countsUses?: boolean
    readonly signIn: SignInSettings
    /** null: no mail is sent. */
    readonly mail: MailSettings | null
  }

/** The parts that differ between a real process and a test. */
export interface Outside {
  readonly clock: Clock
  readonly random: Random
  /** Hashes passwords. Default: as the setting says */
  readonly passwordHasher?: PasswordHasher
}

/** 80 bits in hex: more than anybody guesses, few enough to type. */
const SETUP_CODE_LENGTH = 20
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

export const SYSTEM: Outside = {
  clock: Date.now,
  random: {
    id: randomUUID,
    letters: (length) => Array.from({ length }, () => LETTERS.charAt(randomInt(LETTERS.length))).join(''),
    fraction: Math.random,
  },
}

/**
 * Opens the library and brings it up to date; every command goes through here.
 * @param options.mustExist refuse to make a missing file
 * @param options.service opened to serve: must be writable; a lost library is recreated only with `mayCreate`
 * @param options.onProgress called during slow steps of opening, such as an upgrade
 * @param options.onEncoderFault called with a sentence for the log when the encoder has no usable weights, or its provider fails or is back
 * @param options.onSnapshotFault called with a sentence for the log when snapshots of the search index cannot be written
 * @param options.onWarning called with a sentence for the log about a setting that has not the effect it names
 * @throws AppError `not_found` when it must exist and does not, `unavailable` when it cannot be opened, `invalid_input` for a model or system prompt that cannot be used
 */
export async function openApp(
  settings: AppSettings,
  options: {
    mustExist?: boolean
    service?: { mayCreate: boolean }
    outside?: Outside
    onProgress?: (progress: OpeningProgress) => void
    onEncoderFault?: (message: string) => void
    onSnapshotFault?: (sentence: string) => void
    onWarning?: (sentence: string) => void
  } = {},
) {
  const outside = options.outside ?? SYSTEM
  if (options.mustExist) {
    requireFile(settings.databaseUrl, 'Start the service once, import into it, or set DATABASE_URL to an existing library.')
  }
  const path = databasePath(settings.databaseUrl)
  if (options.service && path !== null) refuseLostLibrary(path, options.service.mayCreate)
  const improver = createImprover(settings.improve, (length) => outside.random.letters(length))
  const tests = createTestModels(settings.tests, settings.improve)
  const listeners = new Set<(change: LibraryChange) => void>()
  const onChange = (change: LibraryChange) => {
    for (const listener of listeners) listener(change)
  }
  const patience = {
    wait: (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal, ref: false }),
    fraction: outside.random.fraction,
  }
  const provider =
    settings.embeddings && createRemoteEncoder(createTextEmbedder(settings.embeddings), patience, options.onEncoderFault ?? (() => {}))
  const encoder: Encoder | null = provider ?? makeEncoder(settings, options)
  let store: LibraryStore | undefined
  try {
    store = await openStore(settings, {
      ...outside,
      onChange,
      instance: randomUUID(),
      vectors: loadWordVectors(),
      encoder,
      quota: settings.QUOTA_PER_OWNER,
      copiesBeforeUpgrade: settings.copiesBeforeUpgrade ?? true,
      keepsSnapshots: options.service !== undefined,
      onSnapshotFault: options.onSnapshotFault,
      onProgress: options.onProgress,
    })
    if (options.service) {
      await store.service.checkWrite()
      const faults = await store.arrivals.reserveTeams(listMappedTeams(settings.signIn))
      for (const fault of faults) options.onWarning?.(fault)
    }
  } catch (error) {
    await encoder?.close()
    await store?.close()
    throw error
  }
  if (options.service && path !== null) markLibrary(path)
  const itemEncoding = encoder && createItemEncoding(encoder, store.itemVectors, patience)
  listeners.add(() => itemEncoding?.wake())
  const secret = settings.SECRET_KEY ?? (await store.service.ensureSecret(() => randomBytes(32).toString('hex')))
  const keptUrl = settings.isBaseUrlGuessed ? await store.service.findServiceUrl() : null
  const baseUrl = keptUrl ?? settings.baseUrl
  const sealer = createSealer(createHash('sha256').update(secret).digest('hex'))
  const derive = (purpose: string) => createHmac('sha256', secret).update(purpose).digest('hex')
  const ways = settings.signIn
  const proxy: ProxySignIn | null = ways.proxy && createProxySignIn(store, ways.proxy, outside.clock)
  const oauthSettings: OAuthSettings | null =
    settings.OAUTH_ENABLED && settings.MCP_ENABLED && isSafeIssuer(baseUrl)
      ? {
          readsDocuments: settings.OAUTH_CLIENT_DOCUMENTS,
          allowedAddresses: settings.OAUTH_CLIENT_ADDRESSES,
          resources: [`${baseUrl}/mcp`, `${baseUrl}/api/mcp`],
        }
      : null
  const loginSettings = {
    secret: derive('session cookies'),
    baseUrl,
    clock: outside.clock,
    passwordHash: settings.PASSWORD_HASH,
    passwordHasher: outside.passwordHasher,
    hasPasswords: ways.hasPasswords,
    oauth: oauthSettings,
    isSuspended: async (userId: string) => (await store.people.findPerson(userId))?.suspendedAt !== null,
    sealer,
    secondFactor: settings.SECOND_FACTOR,
    issuer: new URL(baseUrl).host,
  }
  const auth = createAuthLoader(store.logins, loginSettings)
  const logins: Logins = createLogins(store, auth, loginSettings)
  const oauth =
    oauthSettings && createOAuthServer(store, auth, { baseUrl, clock: outside.clock, oauth: oauthSettings, vouch: proxy ? logins : null })
  // Derived, so it is the same for every start and instance and never stored. Void once someone can sign in.
  const setupCode = derive('setup code').slice(0, SETUP_CODE_LENGTH)
  const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')
  const uses = settings.countsUses ? createUseCounter() : null
  const countAs = (actor: Actor, entry: Entry) => {
    const { uses: how } = ENTRIES[entry]
    if (!uses || !how) return countNothing
    const { userId = null, keyId = null } = actor.kind === 'user' ? actor : {}
    return countFor(uses, how, { userId, keyId })
  }
  const shared = {
    forgetArrivals: () => proxy?.forgetArrivals(),
    isCounting: uses !== null,
    maintainersAccept: settings.HIGH_FINDINGS === 'maintainers',
    store,
    sealer,
    clock: outside.clock,
    baseUrl,
    findSimilar: store.items.findSimilarPrompts,
    improver,
    tests,
    textVectors: encoder && !provider ? rememberVectors(encoder) : null,
    logins,
    oauth,
    ways,
    providers: createProviders(ways.providers, outside.clock, ways.timeoutSeconds),
    secrets: {
      makeKey() {
        const key = createApiKey()
        return { key, sha256: hashApiKey(key) }
      },
      makeToken(of?: 'link') {
        const token = (of === 'link' ? LINK_PREFIX : '') + randomBytes(32).toString('base64url')
        return { token, sha256: hashToken(token) }
      },
      hash: hashToken,
    },
    signUp: {
      isOpen: settings.ALLOW_SIGNUP,
      isSetupCode: (code: string) => timingSafeEqual(Buffer.from(hashToken(code.trim().toLowerCase())), Buffer.from(hashToken(setupCode))),
    },
    listCopies: () => listCopies(libraryPath(settings), settings.BACKUP_DIR),
    sendMail: settings.mail ? createMailer(settings.mail) : null,
  }
  return {
    operations: OPERATIONS,
    store,
    clock: outside.clock,
    baseUrl,
    /** Whether `baseUrl` is only what the settings suggest: the service never listened with this library. */
    isBaseUrlGuessed: settings.isBaseUrlGuessed === true && keptUrl === null,
    /** The provider of embeddings, when the settings name one: then it is the encoder. */
    provider,
    /** The encoder of texts; null when the settings turn it off. */
    encoder,
    /** Makes the vectors of items, where there is an encoder. A server starts it. */
    itemEncoding,
    /** Uses that were counted and are not written yet; null when they are not counted. */
    uses,
    /** The context of operations for one caller. @param entry how the call comes in, which the audit log records */
    contextFor(actor: Actor, entry: Entry): Context {
      const { keyHint, surface } = ENTRIES[entry]
      return { ...shared, keyHint, surface, actor, count: countAs(actor, entry) }
    },
    /** Seals texts that clients carry, with the key that all processes share. */
    sealer,
    /** The actor of a browser's cookies. */
    logins,
    /** Signs programs in; null where OAuth is off. */
    oauth,
    /** The actor that a reverse proxy signs in; null where none does. */
    proxy,
    /** The code that proves, until somebody can sign in, that the operator makes the first account. */
    setupCode,
    /** The actor of a key; null is nobody. @throws AppError `invalid_api_key` */
    authenticate: (key: string | null) => authenticate(key, store.keys, store.people.noteSeen, outside.clock),
    /** The maker of the install link of a token, and its scope; null when it does not work. */
    authenticateInstallLink: (token: string) => authenticateInstallLink(hashToken(token), store.keys, outside.clock),
    /** Calls `listener` after each change of an item that this process wrote; returns how to stop. */
    onChange(listener: (change: LibraryChange) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Subscribes to other instances, whose changes are announced like local ones. Returns how to stop. */
    listen: () => store.instances.listen(onChange),
    async close() {
      await tests.stop()
      await itemEncoding?.stop()
      await encoder?.close()
      await store.close()
    },
  }
}

/**
 * Deletes the copies of a library that the service made on this machine: backups, copies before upgrades, files a restore set aside.
 * @param isMeant false only says which
 */
export function deleteCopies(settings: DatabaseSettings, backupFolder: string | null, isMeant: boolean): readonly LibraryCopy[] {
  const copies = listCopies(libraryPath(settings), backupFolder)
  if (isMeant) removeCopies(copies)
  return copies
}

/** Copies the library at one address into an empty database at another, as `copyLibrary` says. @throws AppError */
export async function migrateData(fromUrl: string, toUrl: string, onProgress: Parameters<typeof copyLibrary>[2]): Promise<CopyReport> {
  requireFile(fromUrl, 'Check the path.')
  return await withDatabase({ databaseUrl: fromUrl }, (from) =>
    withDatabase({ databaseUrl: toUrl }, (to) => copyLibrary(from, to, onProgress)),
  )
}

/**
 * Writes a backup of a library while others may use it.
 * @returns its manifest
 * @throws AppError as `backUpFile` and `writeLibraryFile` say
 */
export async function backUpLibrary(databaseUrl: string, target: string, options: { replaces?: boolean } = {}): Promise<Manifest> {
  requireFile(databaseUrl, 'Check DATABASE_URL.')
  const settings = { replaces: false, ...options, now: new Date(SYSTEM.clock()) }
  const path = databasePath(databaseUrl)
  if (path !== null) return await backUpFile(path, target, settings)
  return await withDatabase({ databaseUrl }, (database) => writeLibraryFile(database, target, 'everything', settings))
}

/**
 * Replaces an unused library with a backup, or fills the empty database of a server.
 * @throws AppError as `restoreFile` says, and `conflict` for a database that is not empty
 */
export async function restoreLibrary(
  backup: string,
  databaseUrl: string,
  options: Pick<RestoreOptions, 'revokesKeys' | 'replacesUnreadable' | 'onStep'>,
): Promise<RestoreReport> {
  const path = databasePath(databaseUrl)
  const outside = { ...SYSTEM, vectors: loadWordVectors(), ...options }
  if (path !== null) return await restoreFile(backup, path, outside)
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-restore-'))
  try {
    const { restored, result } = await withRestored(backup, folder, outside, (file) => migrateData(`sqlite:${file}`, databaseUrl, () => {}))
    if (result.fault !== null) throw new AppError('conflict', result.fault)
    return { ...restored, keptAs: null }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Checks a library while others may use it.
 * @param options.repairs whether to rebuild derived data; @param options.compacts whether to reclaim free space
 */
export async function examineLibrary(databaseUrl: string, options: { repairs: boolean; compacts: boolean }): Promise<readonly Finding[]> {
  requireFile(databaseUrl, 'Check DATABASE_URL.')
  const path = databasePath(databaseUrl)
  // A damaged file may be too damaged to be opened for writing.
  if (path !== null && !options.repairs && !options.compacts) return await examineFile(path)
  return await withDatabase({ databaseUrl }, async (database) => {
    const findings = await database.readSnapshot((db) => examine(db, database.dialect))
    const after = options.repairs ? await repair(database, findings, { ...SYSTEM, vectors: loadWordVectors() }) : findings
    if (options.compacts) await database.file?.compact()
    return after
  })
}

/** Checks a backup against its manifest, read-only. @throws AppError `unavailable` when they differ */
export async function examineBackup(file: string): Promise<readonly Finding[]> {
  if (!existsSync(file)) throw new AppError('not_found', `No backup found at ${file}.`)
  const said = await checkLibraryFile(file)
  const manifest: Finding = { check: 'manifest', state: said ? 'ok' : 'skipped', count: 0, faults: [], isRepairable: false }
  // A file without logins has no words.
  return [manifest, ...(await examineFile(file)).filter(({ check }) => check !== 'search words' || said?.hasLogins !== false)]
}

async function examineFile(path: string): Promise<readonly Finding[]> {
  return await readSqliteFile(path, (db) => examine(db, sqliteDialect))
}

async function openStore(settings: AppSettings, outside: Parameters<typeof createStore>[1]): Promise<LibraryStore> {
  return await explain(settings, async () => {
    await refuseOlderProcess(settings)
    const database = await openDatabase(settings)
    try {
      return await createStore(database, outside)
    } catch (error) {
      await database.close()
      throw error
    }
  })
}

/** The encoder of the settings where no provider is set. A command that needs no vector starts no thread. */
function makeEncoder(
  { encoder = false }: AppSettings,
  { onEncoderFault = () => {}, service }: NonNullable<Parameters<typeof openApp>[1]>,
): Encoder | null {
  if (typeof encoder === 'object') return encoder
  return encoder ? createEncoder({ onFault: onEncoderFault, startsNow: service !== undefined }) : null
}
