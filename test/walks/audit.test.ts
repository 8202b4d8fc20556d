import { Readable } from 'node:stream'
import { base32 } from '@better-auth/utils/base32'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Actor, ADMIN_RIGHTS, ANONYMOUS, PERSON_RIGHTS } from '../../src/domain/people/actor.ts'
import type { ClientOfRequest } from '../../src/domain/ports/environment.ts'
import type { AuditEvent } from '../../src/domain/service/audit.ts'
import type { AuditRecord } from '../../src/operations/admin/administration.ts'
import type { LibraryStore } from '../../src/storage/store.ts'
import { importPrompts } from '../../src/transfer/import-entries.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { codeAt } from '../support/codes.ts'
import { program } from '../support/oauth-program.ts'
import { PROCEDURES } from '../support/procedures.ts'
import { json, rpc, type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, signUp, visit } from '../support/visitor.ts'

type UserActor = Extract<Actor, { kind: 'user' }>

const DAY_MS = 86_400_000
/** Stands in every text that operations are given here, and must stand in no event. */
const CANARY = 'canary'

/** The newest events, the oldest of them first. */
async function eventsAfter(store: LibraryStore, order: number): Promise<AuditEvent[]> {
  return (await store.audit.listEvents(ANONYMOUS, { limit: 500 })).filter((event) => event.order > order).toReversed()
}

async function lastOrder(store: LibraryStore): Promise<number> {
  return (await store.audit.listEvents(ANONYMOUS, { limit: 1 }))[0]?.order ?? 0
}

const short = ({ action, actorName, surface, detail }: AuditEvent) => [action, actorName, surface, detail]

/** Procedures that change what is kept and leave no event, each with the reason. */
const UNRECORDED: Record<string, string> = {
  vote: 'the vote itself says who voted; taking it back and forth would fill the log',
  remove_vote: 'as vote',
  favourite: 'a private mark of its reader, which says itself when it was made',
  remove_favourite: 'as favourite',
  hide_first_steps: 'what its reader wants to see on a page of their own',
  improve_prompt: 'counts what was spent in a day, and changes nothing else',
  keep_form_draft: 'a form that is still being written, kept for a day',
  check_import: 'what an import would do, kept for 15 minutes',
  load_starter_library: 'does nothing here: the library has items; proved in import-page.test.ts',
  finish_provider_sign_in: 'needs the answer of a provider; proved in provider-sign-in.test.ts',
  start_passkey: 'a challenge for five minutes',
  start_passkey_sign_in: 'as start_passkey',
  dismiss_check_changes: 'that an administrator has seen what is computed',
  dismiss_new_sign_ins: 'that its reader has seen what is recorded',
  sign_out: 'ends the one session whose beginning is recorded',
}

/** What somebody gets of collections, and narrowed to the newest. */
async function readNewestCollection({ call }: Pick<TestApp, 'call'>, reader: Actor): Promise<unknown[]> {
  const { collections, total } = Object(await call(reader, 'list_collections', {}))
  const newest: string[] = collections.slice(0, 3).map(({ id }: { id: string }) => id)
  const read = (name: string, input: object) => call(reader, name, input).catch((error: Error) => error.message)
  return await Promise.all([
    total,
    collections,
    ...newest.flatMap((id) => [
      read('show_collection', { id }),
      read('list_prompts', { collections: [id] }),
      read('list_skills', { collections: [id], q: CANARY }),
      read('list_exposed_prompts', { collections: [id] }),
      read('list_skill_manifests', { collections: [id] }),
      read('list_shared_skills', { scope: `/collections/${id}` }),
    ]),
  ])
}

/** What anonymous readers get of everything public: from the caches, where the app has read it before. */
async function readPublic(test: Pick<TestApp, 'app' | 'call' | 'fetch'>): Promise<unknown[]> {
  const read = (name: string, input: object) => test.call(ANONYMOUS, name, input).catch((error: Error) => error.message)
  const { prompts } = Object(await test.call(ANONYMOUS, 'list_prompts', { perPage: 100 }))
  const { skills } = Object(await test.call(ANONYMOUS, 'list_skills', { perPage: 100 }))
  const page = async (path: string) => await (await test.fetch(path, { headers: { accept: 'text/html' } })).text()
  return [
    prompts,
    skills,
    ...(await Promise.all([
      read('search_prompts', { query: CANARY, limit: 50 }),
      read('search_skills', { query: CANARY, limit: 50 }),
      read('list_prompts', { sort: 'votes' }),
      read('list_prompts', { author: `owner-${CANARY}` }),
      read('list_categories', {}),
      read('list_tags', { perPage: 100 }),
      read('list_exposed_prompts', {}),
      read('list_skill_manifests', {}),
      ...prompts
        .slice(0, 5)
        .flatMap(({ id, slug }: { id: string; slug: string }) => [
          read('show_prompt', { id }),
          read('show_prompt', { id: slug }),
          read('list_versions', { collection: 'prompts', id }),
          read('related_items', { collection: 'prompts', id }),
        ]),
      ...['/', '/prompts', '/skills', `/prompts?q=${CANARY}`, `/search?q=${CANARY}`].map(page),
    ])),
  ]
}

/** What somebody finds: public items from the cache, and their own. */
async function readLists({ call }: Pick<TestApp, 'call'>, reader: Actor): Promise<unknown[]> {
  const read = (name: string, input: object) => call(reader, name, input).catch((error: Error) => error.message)
  return await Promise.all([
    read('list_prompts', { perPage: 100 }),
    read('list_skills', { perPage: 100 }),
    read('search_prompts', { query: CANARY, limit: 50 }),
    read('search_skills', { query: CANARY, limit: 50 }),
  ])
}

/** What a call is given, made ready before it is watched. */
type Prepare = () => Promise<{ readonly actor: Actor; readonly input: unknown; readonly client?: ClientOfRequest }>

describe('every operation that changes what is kept', () => {
  let test: TestApp
  let admin: UserActor
  let owner: UserActor
  let made = 0

  const asPerson = async (name: string, rights: readonly (typeof ADMIN_RIGHTS)[number][]): Promise<UserActor> => {
    const person = await test.app.store.people.findPersonByName(name)
    return { kind: 'user', userId: person?.id ?? '', username: name, scopes: new Set(rights), sessionId: 'this one' }
  }
  const unique = () => `${CANARY}-${++made}`
  let member: UserActor | null = null
  /** Who may see what is made; whether that was looked at. */
  let madeFor = 'public'
  let isMadeFor = false
  const audience = () => {
    isMadeFor = true
    return madeFor
  }
  const promptInput = () => ({
    title: unique(),
    content: `${unique()} \${${CANARY}}`,
    description: unique(),
    tags: [unique()],
    note: unique(),
    visibility: audience(),
  })
  const skillInput = () => ({
    title: unique(),
    ...(audience() === 'members' ? { visibility: madeFor } : {}),
    note: unique(),
    files: [
      { filename: 'SKILL.md', content: `---\nname: ${unique()}\ndescription: ${CANARY}\n---\n${CANARY}` },
      { filename: `${CANARY}.txt`, content: CANARY },
    ],
  })
  const makePrompt = async () => Object((await test.call(owner, 'save_prompt', promptInput())).prompt)
  const makeDeleted = async () => {
    const { id } = await makePrompt()
    await test.call(owner, 'delete_item', { collection: 'prompts', id })
    return { collection: 'prompts', id }
  }
  const makeChanged = async () => {
    const { id } = await makePrompt()
    await test.call(owner, 'update_prompt', { id, title: unique() })
    return { collection: 'prompts', id }
  }
  const makeLabelled = async () => {
    const target = { ...(await makeChanged()), label: 'production' }
    await test.call(owner, 'set_label', { ...target, version: 1 })
    return target
  }
  const FOUND = { rule: 'hidden/zero-width', evidence: 'ig\u200bnore' }
  /** A prompt in which the check finds something. */
  const makeFound = async () => {
    const { id } = Object((await test.call(owner, 'save_prompt', { ...promptInput(), content: `${unique()} ${FOUND.evidence}` })).prompt)
    return { collection: 'prompts', id }
  }
  const RESULTS = { filename: 'junit.xml', content: '<testsuite name="s"><testcase name="one" classname=""/></testsuite>' }
  /** A prompt with a test run. */
  const makeRun = async () => {
    const target = await makeFound()
    const { run } = Object(await test.call(owner, 'report_results', { ...target, version: 1, files: [RESULTS] }))
    return { ...target, run: run.run }
  }
  const makeTested = async () => ({
    ...(await makeFound()),
    files: [{ filename: 'tests.json', content: JSON.stringify({ tests: [{ vars: {}, assert: [{ type: 'equals', value: CANARY }] }] }) }],
  })
  const makeWaived = async () => {
    const target = await makeFound()
    await test.call(owner, 'waive_finding', { ...target, rule: FOUND.rule, reason: CANARY })
    return target
  }
  const makeSkill = async () => Object((await test.call(owner, 'save_skill', skillInput())).skill)
  const makeCollection = async (): Promise<{ id: string; items: string[] }> => {
    const fields = { title: unique(), description: unique(), visibility: audience() }
    const { id } = Object((await test.call(owner, 'create_collection', fields)).collection)
    const items = [(await makePrompt()).id, (await makeSkill()).id]
    await test.call(owner, 'add_to_collection', { id, items })
    return { id, items }
  }
  const onCollection = (more = (): object => ({})) => byOwner(async () => ({ id: (await makeCollection()).id, ...more() }))
  const makeImport = async () =>
    Object(await test.call(owner, 'check_import', { files: [{ filename: `${unique()}.md`, bytes: Buffer.from(CANARY) }] }))
  /** Of what is given to an operation, or of what makes it. */
  const byOwner = (input: object | (() => object)) => async () => ({
    actor: owner,
    input: typeof input === 'function' ? await input() : input,
  })
  const byAdmin = (input: object | (() => object)) => async () => ({
    actor: admin,
    input: typeof input === 'function' ? await input() : input,
  })
  const onPrompt =
    (more: object, actor: () => UserActor = () => owner) =>
    async () => ({ actor: actor(), input: { collection: 'prompts', id: (await makePrompt()).id, ...more } })
  const onSkill = (more: object) => async () => ({ actor: owner, input: { skillId: (await makeSkill()).id, ...more } })
  const makeInvite = async () => {
    const { token, sha256 } = test.app.contextFor(ANONYMOUS, 'rest').secrets.makeToken()
    const expiresAt = new Date(test.app.clock() + DAY_MS).toISOString()
    return { token, invite: await test.app.store.people.createInvite({ sha256, username: null, role: 'user', expiresAt }) }
  }
  const makeAccount = async () => (await test.app.store.people.createUser({ username: unique(), defaultVisibility: 'private' })).username
  const makeTeam = async () => String((await test.call(owner, 'create_team', { team: unique() }))['name'])
  const onTeam = (more: object) => async () => ({ actor: owner, input: { team: await makeTeam(), ...more } })
  const makeCategory = async () => Object(await test.call(admin, 'create_category', { name: unique() })).slug
  const config = { kind: 'chat', prompt: CANARY }

  /** How each operation is called. Those that only read are called too: that they write nothing is looked at. */
  /** What a program asks the owner for, and the owner's browser. */
  const askForProgram = async () => {
    const { cookies } = Object(await test.call(ANONYMOUS, 'sign_in', { name: owner.username, password: PASSWORD }))
    const client = clientWith(cookies)
    const asked = await test.app.oauth?.authorize(new URL((await program(test)).authorizeAt(), 'http://here').searchParams, {
      userId: owner.userId,
      client,
    })
    if (!asked || !('to' in asked)) throw new Error('The program was not heard')
    return { input: { query: asked.to.slice(asked.to.indexOf('?') + 1) }, client }
  }
  const clientWith = (cookies: readonly string[]): ClientOfRequest => ({
    address: '',
    caller: '',
    userAgent: null,
    cookies: cookies.map((cookie) => cookie.split(';')[0]).join('; '),
  })
  let passwordHash: string | null = null
  /** Somebody with a password, past the limit of sign-ups from one address. */
  const addPerson = async () => {
    const username = unique()
    passwordHash ??= await test.app.logins.hashPassword(PASSWORD)
    await test.app.store.people.createLogin({ username, email: null, passwordHash, inviteSha256: null }, () => 'user')
    return username
  }
  /** Somebody with a session of their own. */
  const makePerson = async () => {
    const username = unique()
    const visitor = await signUp(test, username)
    const client = { address: '', caller: '', userAgent: null, cookies: visitor.cookies() }
    return { actor: await asPerson(username, PERSON_RIGHTS), username, client }
  }
  const startedCodes = async (actor: UserActor) => {
    const { secret, token } = Object(await test.call(actor, 'start_codes', {}))
    const key = new TextDecoder().decode(base32.decode(secret))
    return { token, code: await codeAt(key, test.app.clock()), password: PASSWORD }
  }
  const makeCodes = async () => {
    const person = await makePerson()
    const { recoveryCodes } = Object(await test.call(person.actor, 'confirm_codes', await startedCodes(person.actor)))
    return { ...person, recoveryCodes }
  }
  const startedPasskey = async (device = createAuthenticator(test.app.baseUrl)) => {
    const { actor, client } = await makePerson()
    const { options, cookies } = Object(await test.call(actor, 'start_passkey', { password: PASSWORD }, client))
    const input = { answer: device.register(JSON.parse(options)), name: unique() }
    return { actor, input, client: { ...client, cookies: `${client.cookies}; ${clientWith(cookies).cookies}` } }
  }
  const makePasskey = async () => {
    const device = createAuthenticator(test.app.baseUrl)
    const { actor, input, client } = await startedPasskey(device)
    await test.call(actor, 'add_passkey', input, client)
    return { actor, device }
  }
  const CALLS: Record<string, Prepare> = {
    search_prompts: byOwner({ query: CANARY }),
    get_prompt: async () => ({ actor: owner, input: { id: (await makePrompt()).id } }),
    save_prompt: async () => ({ actor: owner, input: promptInput() }),
    save_prompts: async () => ({ actor: owner, input: { prompts: [promptInput(), promptInput()] } }),
    save_skills: async () => ({ actor: owner, input: { skills: [skillInput()] } }),
    improve_prompt: byOwner({ prompt: `write ${CANARY}` }),
    search_skills: byOwner({ query: CANARY }),
    get_skill: async () => ({ actor: owner, input: { id: (await makeSkill()).id } }),
    save_skill: async () => ({ actor: owner, input: skillInput() }),
    add_file_to_skill: onSkill({ filename: `new-${CANARY}.txt`, content: CANARY }),
    update_skill_file: onSkill({ filename: `${CANARY}.txt`, content: `more ${CANARY}` }),
    remove_file_from_skill: onSkill({ filename: `${CANARY}.txt` }),
    list_prompts: byOwner({}),
    show_prompt: async () => ({ actor: owner, input: { id: (await makePrompt()).id } }),
    update_prompt: async () => ({ actor: owner, input: { id: (await makePrompt()).id, title: unique(), slug: unique() } }),
    list_skills: byOwner({}),
    update_skill: async () => ({ actor: owner, input: { id: (await makeSkill()).id, title: unique() } }),
    get_skill_file: onSkill({ filename: 'SKILL.md' }),
    delete_item: onPrompt({}),
    restore_item: byOwner(makeDeleted),
    list_collections: byOwner({ q: CANARY }),
    choose_collections: onPrompt({}),
    name_own_collections: byOwner({}),
    show_collection: onCollection(),
    create_collection: async () => ({ actor: owner, input: { title: unique(), description: unique(), visibility: audience() } }),
    update_collection: onCollection(() => ({ title: unique(), description: unique(), slug: unique(), visibility: 'unlisted' })),
    delete_collection: onCollection(),
    add_to_collection: async () => ({ actor: owner, input: { id: (await makeCollection()).id, items: [(await makePrompt()).id] } }),
    remove_from_collection: byOwner(makeCollection),
    move_in_collection: async () => {
      const { id, items } = await makeCollection()
      return { actor: owner, input: { id, item: items[0], to: 'last' } }
    },
    list_trash: byOwner({}),
    list_versions: onPrompt({}),
    related_items: onPrompt({}),
    get_version: onPrompt({ version: 1 }),
    restore_version: byOwner(async () => ({ ...(await makeChanged()), version: 1 })),
    check_item: async () => ({ actor: owner, input: { id: (await makeFound()).id } }),
    check_set: byOwner({}),
    show_check_page: byOwner(makeFound),
    show_tests_page: byOwner(makeFound),
    show_try_page: byOwner(async () => ({ id: (await makeFound()).id })),
    keep_case: byOwner(async () => ({ id: (await makeFound()).id, name: 'Kept', contains: CANARY })),
    waive_finding: byOwner(async () => ({ ...(await makeFound()), rule: FOUND.rule, reason: CANARY })),
    list_waivers: byOwner(makeWaived),
    end_waiver: byOwner(async () => {
      const target = await makeWaived()
      const [{ waiver }] = Object(await test.call(owner, 'list_waivers', target)).waivers
      return { ...target, waiver }
    }),
    list_cases: byOwner(makeFound),
    set_cases: byOwner(makeTested),
    get_cases: byOwner(makeFound),
    convert_cases: byOwner(async () => ({ ...(await makeFound()), layout: 'tessl' })),
    run_tests: byOwner(async () => {
      const { files, ...target } = await makeTested()
      await test.call(owner, 'set_cases', { ...target, files })
      return { id: target.id, models: ['none'], replay: true }
    }),
    cancel_run: byOwner(async () => {
      const { id, run } = await makeRun()
      return { id, run }
    }),
    try_prompt: byOwner(async () => ({ id: (await makeFound()).id, models: ['none'] })),
    report_results: byOwner(async () => ({ ...(await makeFound()), version: 1, files: [RESULTS] })),
    list_runs: byOwner(makeFound),
    get_run: byOwner(makeRun),
    compare_runs: byOwner(async () => {
      const target = await makeRun()
      return { ...target, before: target.run }
    }),
    remove_run: byOwner(makeRun),
    list_gates: byOwner({}),
    set_gate: byOwner({ label: 'gated', minPercent: 50 }),
    list_levels: byAdmin({}),
    set_level: byAdmin({ rule: 'links/shortened', level: 'off' }),
    list_check_changes: byAdmin({}),
    confirm_blocks: async () => {
      await test.call(admin, 'set_level', { rule: FOUND.rule, level: 'warn' })
      const target = await makeFound()
      await test.call(admin, 'set_level', { rule: FOUND.rule, level: 'block' })
      return { actor: admin, input: { items: [target] } }
    },
    dismiss_check_changes: byAdmin({}),
    list_labels: onPrompt({}),
    list_label_rules: byOwner({}),
    set_label: byOwner(async () => ({ ...(await makeChanged()), label: 'production', version: 1, reason: CANARY })),
    remove_label: byOwner(makeLabelled),
    undo_label: byOwner(makeLabelled),
    list_named_prompts: byOwner({}),
    find_named_prompt: byOwner(async () => ({ name: (await makePrompt()).slug, version: 1 })),
    save_named_prompt: byOwner(async () => ({
      name: unique(),
      content: unique(),
      tags: [unique()],
      note: unique(),
      labels: ['production'],
    })),
    label_named_prompt: byOwner(async () => ({ name: (await makePrompt()).slug, version: 1, newLabels: ['production'] })),
    delete_named_prompt: byOwner(async () => ({ name: (await makePrompt()).slug })),
    set_label_rule: byOwner({ name: 'production', isProtected: true }),
    show_purge: onPrompt({}),
    purge_item: onPrompt({}),
    purge_versions: byOwner(async () => ({ ...(await makeChanged()), first: 1, last: 1 })),
    purge_file: async () => {
      const { id } = await makeSkill()
      await test.call(owner, 'remove_file_from_skill', { skillId: id, filename: `${CANARY}.txt` })
      return { actor: owner, input: { id, filename: `${CANARY}.txt` } }
    },
    vote: onPrompt({}),
    remove_vote: onPrompt({}),
    favourite: onPrompt({}),
    remove_favourite: onPrompt({}),
    list_favourites: byOwner({}),
    browse_favourites: byOwner({ collection: 'skills' }),
    find_favourites: byOwner({ ids: [] }),
    list_categories: byOwner({}),
    list_tags: byOwner({}),
    list_exposed_prompts: byOwner({}),
    render_exposed_prompt: async () => ({ actor: owner, input: { name: (await makePrompt()).id, arguments: { [CANARY]: 'x' } } }),
    list_skill_manifests: byOwner({}),
    get_skill_manifest: async () => ({ actor: owner, input: await manifestOf(await makeSkill()) }),
    read_manifest_file: async () => ({ actor: owner, input: { ...(await manifestOf(await makeSkill())), filename: 'SKILL.md' } }),
    arrange_skill_files: onSkill({ put: [{ filename: `${CANARY}-2.txt`, content: CANARY }] }),
    read_skill_archive: byOwner({ archive: Buffer.from('PK').toString('base64') }),
    show_sign_up: async () => ({ actor: ANONYMOUS, input: {} }),
    sign_up: async () => ({ actor: ANONYMOUS, input: { username: unique(), password: PASSWORD, invite: (await makeInvite()).token } }),
    sign_in: async () => ({ actor: ANONYMOUS, input: { name: owner.username, password: PASSWORD } }),
    sign_out: async () => ({ actor: ANONYMOUS, input: {} }),
    show_sign_in_ways: async () => ({ actor: ANONYMOUS, input: {} }),
    // The provider of this library is down; test/operations/provider-sign-in.test.ts has one that answers.
    begin_provider_sign_in: async () => ({ actor: ANONYMOUS, input: { provider: 'corp', to: '/' } }),
    begin_connecting: byOwner({ provider: 'corp', to: '/', password: PASSWORD }),
    finish_provider_sign_in: async () => ({ actor: ANONYMOUS, input: { provider: 'corp', query: 'state=x' } }),
    list_identities: byOwner({}),
    disconnect_provider: async () => {
      const identity = { provider: `https://${unique()}.example.org`, subject: 'x' }
      await test.app.store.arrivals.connectIdentity(owner.userId, identity, null)
      return { actor: owner, input: { provider: identity.provider, password: PASSWORD } }
    },
    create_sign_in_link: async () => ({ actor: admin, input: { username: owner.username } }),
    show_sign_in_link: async () => ({ actor: ANONYMOUS, input: { token: await test.app.logins.createSignInToken(owner.userId) } }),
    use_sign_in_link: async () => ({ actor: ANONYMOUS, input: { token: await test.app.logins.createSignInToken(owner.userId) } }),
    show_second_step: async () => ({ actor: ANONYMOUS, input: {} }),
    finish_sign_in: async () => {
      const { username, recoveryCodes } = await makeCodes()
      const { cookies } = Object(await test.call(ANONYMOUS, 'sign_in', { name: username, password: PASSWORD }))
      return { actor: ANONYMOUS, input: { code: recoveryCodes[0] }, client: clientWith(cookies) }
    },
    start_passkey_sign_in: async () => ({ actor: ANONYMOUS, input: {} }),
    sign_in_with_passkey: async () => {
      const { device } = await makePasskey()
      const { options, cookies } = Object(await test.call(ANONYMOUS, 'start_passkey_sign_in', {}))
      return { actor: ANONYMOUS, input: { answer: device.authenticate(JSON.parse(options)) }, client: clientWith(cookies) }
    },
    list_new_sign_ins: byOwner({}),
    dismiss_new_sign_ins: async () => {
      await test.call(ANONYMOUS, 'sign_in', { name: owner.username, password: PASSWORD })
      return { actor: owner, input: {} }
    },
    show_factors: byOwner({}),
    start_codes: byOwner({}),
    confirm_codes: async () => {
      const { actor } = await makePerson()
      return { actor, input: await startedCodes(actor) }
    },
    renew_recovery_codes: async () => ({ actor: (await makeCodes()).actor, input: { password: PASSWORD } }),
    remove_codes: async () => ({ actor: (await makeCodes()).actor, input: { password: PASSWORD } }),
    start_passkey: async () => {
      const { actor, client } = await makePerson()
      return { actor, input: { password: PASSWORD }, client }
    },
    add_passkey: async () => await startedPasskey(),
    remove_passkey: async () => {
      const { actor } = await makePasskey()
      const { passkeys } = Object(await test.call(actor, 'show_factors', {}))
      return { actor, input: { id: passkeys[0].id, password: PASSWORD } }
    },
    reset_factors: async () => ({ actor: admin, input: { username: (await makeCodes()).username } }),
    request_password_reset: async () => ({ actor: ANONYMOUS, input: { name: owner.username } }),
    show_password_reset: async () => ({ actor: ANONYMOUS, input: { token: await makeResetToken() } }),
    reset_password: async () => ({ actor: ANONYMOUS, input: { token: await makeResetToken(), password: PASSWORD } }),
    show_program_request: async () => ({ actor: owner, ...(await askForProgram()) }),
    connect_program: async () => {
      const { input, client } = await askForProgram()
      return { actor: owner, input: { ...input, scopes: ['read'] }, client }
    },
    refuse_program: async () => ({ actor: owner, ...(await askForProgram()) }),
    show_account: byOwner({}),
    update_account: byOwner(() => ({ bio: unique(), displayName: unique(), website: `https://${CANARY}.example.org`, language: 'de' })),
    change_password: byOwner({ password: PASSWORD, newPassword: PASSWORD }),
    end_sessions: async () => {
      await test.call(ANONYMOUS, 'sign_in', { name: owner.username, password: PASSWORD })
      return { actor: owner, input: {} }
    },
    export_own_items: byOwner({ collection: 'prompts' }),
    delete_account: async () => {
      const username = await addPerson()
      return { actor: await asPerson(username, PERSON_RIGHTS), input: { password: PASSWORD, username } }
    },
    list_shared_labels: byOwner({}),
    list_shared_skills: byOwner({}),
    list_shared_changes: byOwner({ kind: 'prompt' }),
    read_shared_versions: byOwner({ changes: [1] }),
    read_shared_files: async () => ({ actor: owner, input: { id: (await makeSkill()).id } }),
    seal_archives: async () => ({ actor: (await test.user('owner')).actor, input: { archives: [] } }),
    open_archive: async () => {
      const { actor } = await test.user('owner')
      const archive = { scope: '', name: 'x', sha256: '0'.repeat(64) }
      const { tokens } = Object(await test.call(actor, 'seal_archives', { archives: [archive] }))
      return { actor, input: { token: tokens[0] } }
    },
    find_skills: byOwner({ q: CANARY }),
    list_whole_prompts: byOwner({ q: CANARY }),
    walk_whole_prompts: byOwner({}),
    search: byOwner({ query: CANARY }),
    fetch: async () => ({ actor: owner, input: { id: (await makeSkill()).id } }),
    create_install_link: async () => ({ actor: owner, input: { name: unique() } }),
    list_install_links: byOwner({}),
    revoke_install_link: byOwner(async () => ({ id: Object((await test.call(owner, 'create_install_link', { name: unique() })).link).id })),
    create_team: async () => ({ actor: owner, input: { team: unique(), description: unique(), displayName: unique() } }),
    list_teams: byOwner({}),
    show_team: onTeam({}),
    update_team: async () => ({ actor: owner, input: { team: await makeTeam(), newName: unique(), description: unique() } }),
    delete_team: onTeam({}),
    list_team_members: onTeam({}),
    suggest_members: onTeam({}),
    set_team_member: async () => ({ actor: owner, input: { team: await makeTeam(), username: await makeAccount(), role: 'editor' } }),
    remove_team_member: async () => {
      const [team, username] = [await makeTeam(), await makeAccount()]
      await test.call(owner, 'set_team_member', { team, username, role: 'reader' })
      return { actor: owner, input: { team, username } }
    },
    list_team_activity: onTeam({}),
    list_all_teams: byAdmin({}),
    show_transfer: onPrompt({}),
    transfer_item: async () => ({ actor: owner, input: { collection: 'prompts', id: (await makePrompt()).id, to: await makeTeam() } }),
    whoami: byOwner({}),
    list_keys: byOwner({}),
    create_key: async () => ({ actor: owner, input: { name: unique() } }),
    revoke_key: byOwner(async () => ({ id: Object((await test.call(owner, 'create_key', { name: unique() })).record).id })),
    save_embed: byOwner({ config }),
    show_embed: async () => ({ actor: owner, input: { id: (await test.call(owner, 'save_embed', { config })).id } }),
    list_embeds: byOwner({}),
    delete_embed: async () => ({ actor: owner, input: { id: (await test.call(owner, 'save_embed', { config })).id } }),
    keep_form_draft: byOwner({ body: JSON.stringify({ title: CANARY }) }),
    show_form_draft: async () => ({ actor: owner, input: { id: (await test.call(owner, 'keep_form_draft', { body: '{}' })).id } }),
    check_import: byOwner({ files: [{ filename: 'a.md', bytes: Buffer.from(CANARY) }] }),
    show_import: async () => ({ actor: owner, input: { id: (await makeImport()).id } }),
    run_import: async () => ({ actor: owner, input: { id: (await makeImport()).id } }),
    load_starter_library: byAdmin({}),
    show_profile: async () => ({ actor: owner, input: { username: owner.username } }),
    show_first_steps: byOwner({}),
    hide_first_steps: byOwner({}),
    list_newest_of_others: byOwner({}),
    list_own_items: byOwner({ collection: 'prompts' }),
    match_own_items: byOwner({ collection: 'prompts', q: CANARY }),
    copy_item: async () => ({ actor: owner, input: { collection: 'skills', id: (await makeSkill()).id } }),
    show_item_page: onPrompt({}),
    change_items: byOwner(async () => ({
      collection: 'prompts',
      ids: [await makePrompt(), await makePrompt()].map(({ id }) => id),
      addTags: [unique()],
    })),
    take_back_changes: async () => {
      const { id } = await makePrompt()
      const { inverse } = await test.call(owner, 'change_items', { collection: 'prompts', ids: [id], addTags: [unique()] })
      return { actor: owner, input: Object(inverse) }
    },
    delete_items: async () => ({ actor: owner, input: { collection: 'skills', ids: [(await makeSkill()).id] } }),
    restore_items: byOwner(async () => ({ collection: 'prompts', ids: [(await makeDeleted()).id] })),
    show_password_help: byOwner({}),
    browse_items: byOwner({ collection: 'prompts' }),
    near_addresses: byOwner({ ref: 'a-letter' }),
    show_marks: onPrompt({}),
    list_featured: byOwner({}),
    set_featured: onPrompt({ isFeatured: true }, () => admin),
    set_held: onPrompt({ isHeld: true }, () => admin),
    list_held: byAdmin({}),
    list_people: byAdmin({}),
    set_role: byAdmin(async () => ({ username: await addPerson(), role: 'admin' })),
    bind_team: byAdmin(async () => ({ team: await makeTeam() })),
    set_suspended: byAdmin(async () => ({ username: await addPerson(), isSuspended: true })),
    sign_out_person: async () => {
      const username = await addPerson()
      await test.call(ANONYMOUS, 'sign_in', { name: username, password: PASSWORD })
      return { actor: admin, input: { username } }
    },
    show_person: byAdmin({ username: `owner-${CANARY}` }),
    hand_over_items: async () => {
      const username = await addPerson()
      await test.call(await asPerson(username, PERSON_RIGHTS), 'save_prompt', promptInput())
      await test.call(admin, 'set_suspended', { username, isSuspended: true })
      return { actor: admin, input: { username, to: owner.username } }
    },
    delete_person: byAdmin(async () => {
      const username = await addPerson()
      return { username, confirm: username }
    }),
    create_invite: async () => ({ actor: admin, input: { username: unique() } }),
    list_invites: byAdmin({}),
    revoke_invite: async () => ({ actor: admin, input: { id: (await makeInvite()).invite.id } }),
    create_reset_link: async () => ({ actor: admin, input: { username: owner.username } }),
    count_library: byAdmin({}),
    list_all_categories: byAdmin({}),
    create_category: async () => ({ actor: admin, input: { name: unique() } }),
    rename_category: async () => ({ actor: admin, input: { slug: await makeCategory(), name: unique() } }),
    move_category: async () => ({ actor: admin, input: { slug: await makeCategory(), parent: await makeCategory() } }),
    merge_category: async () => ({ actor: admin, input: { slug: await makeCategory(), into: await makeCategory() } }),
    delete_category: async () => ({ actor: admin, input: { slug: await makeCategory() } }),
    list_own_activity: byOwner({}),
    list_audit_events: byAdmin({}),
    show_service_status: byAdmin({}),
    count_copy: onPrompt({ caller: 'address 192.0.2.1' }),
    list_key_usage: byOwner({}),
    show_library_usage: byAdmin({}),
  }
  const makeResetToken = () => test.app.logins.createResetToken(owner.userId, false)
  const manifestOf = async (skill: { id: string }) => {
    const { skills } = Object(await test.call(owner, 'list_skill_manifests', {}))
    const found = skills.find((one: { id?: string }) => one.id === skill.id) ?? skills[0]
    return { owner: found.owner, path: found.path }
  }

  beforeAll(async () => {
    test = await testApp({}, {}, null, { mail: { url: 'smtp://127.0.0.1:9', from: 'a@example.org' } })
    await signUp(test, `admin-${CANARY}`)
    await signUp(test, `owner-${CANARY}`)
    admin = await asPerson(`admin-${CANARY}`, ADMIN_RIGHTS)
    owner = await asPerson(`owner-${CANARY}`, PERSON_RIGHTS)
    await test.call(owner, 'update_account', { email: `${CANARY}@example.org`, password: PASSWORD })
  })
  afterAll(() => test.close())

  const prepare = async (name: string) => {
    const prepared = await CALLS[name]?.()
    if (!prepared) throw new Error(`Say in test/walks/audit.test.ts how ${name} is called`)
    return prepared
  }

  it('is called here, with every other one', () => {
    expect(Object.keys(CALLS).toSorted()).toEqual([...PROCEDURES.keys()].toSorted())
    for (const name of Object.keys(UNRECORDED)) expect(PROCEDURES.has(name), name).toBe(true)
  })

  it.each([...PROCEDURES])('%s is recorded when it writes', async (name, { writes = false }) => {
    const { store } = test.app
    const [prepared, from] = [await prepare(name), await lastOrder(store)]
    const before = await test.readEverything()
    const outcome = await test.call(prepared.actor, name, prepared.input, prepared.client).catch((error: unknown) => error)
    // What it does after its answer.
    if (name === 'request_password_reset') await expect.poll(async () => (await eventsAfter(store, from)).length).toBe(1)
    const hasWritten = (await test.readEverything()) !== before
    const events = await eventsAfter(store, from)
    if (name in UNRECORDED) return expect(events).toEqual([])
    expect(hasWritten, String(outcome)).toBe(writes)
    expect(events.length > 0).toBe(writes)
    const { actor } = prepared
    for (const event of events) {
      expect(event.surface).toBe('rest')
      if (actor.kind === 'user') expect(event.actorId).toBe(actor.userId)
    }
  })

  const WRITING = [...PROCEDURES].filter(([name, { writes }]) => writes || name in UNRECORDED)
  it.each(WRITING)('%s leaves no stale answer in a cache', async (name) => {
    for (const who of ['public', 'members']) {
      madeFor = who
      isMadeFor = false
      const prepared = await prepare(name)
      madeFor = 'public'
      if (who === 'members' && !isMadeFor) return
      member ??= (await test.user('member')).actor
      const reader = member
      const readAll = async (from: Parameters<typeof readPublic>[0]) => [
        await readPublic(from),
        await readLists(from, prepared.actor),
        await readLists(from, reader),
        await readNewestCollection(from, ANONYMOUS),
        await readNewestCollection(from, reader),
      ]
      await readAll(test)
      await test.call(prepared.actor, name, prepared.input, prepared.client).catch(() => {})
      const cached = await readAll(test)
      const fresh = await test.reopen()
      expect(cached, `of what is ${who}`).toEqual(await readAll(fresh))
      await fresh.close()
    }
  })

  it('leaves no text of anybody in the log', async () => {
    const events = await eventsAfter(test.app.store, 0)
    expect(new Set(events.map(({ action }) => action)).size).toBeGreaterThan(25)
    // Names are looked up when they are read; nothing else holds a word of anybody.
    const kept = events.map(({ actorName: _a, ownerName: _o, targetName: _t, keyName: _k, intoName: _i, items: _n, ...rest }) => rest)
    expect(JSON.stringify(kept)).not.toContain(CANARY)
    expect(JSON.stringify(kept)).not.toContain(PASSWORD)
    for (const row of kept) {
      for (const id of [row.actorId, row.keyId, row.ownerId, row.targetId]) expect(id ?? '1').toMatch(/^([0-9a-f-]{36}|\d+)$/)
    }
    const names = events.flatMap(({ actorName, ownerName, targetName }) => [actorName, ownerName, targetName])
    expect(names.some((name) => name?.includes(CANARY))).toBe(true)
  })
})

describe('the audit log', () => {
  let test: TestApp
  beforeEach(async () => {
    test = await testApp()
  })
  afterEach(() => test.close())

  const log = async (from = 0) => (await eventsAfter(test.app.store, from)).map(short)
  const prompt = { title: 'Walrus', content: 'Write.', visibility: 'private' }

  it('says what was done, by whom, from where and with which key', async () => {
    const { actor, key } = await test.user('ada')
    const from = await lastOrder(test.app.store)
    const saved = Object(await (await test.fetch('/api/prompts', { ...json('POST', prompt), key })).json())
    const { id } = saved.prompt ?? saved
    await test.fetch('/api/mcp', { ...rpc('tools/call', { name: 'save_prompt', arguments: { ...prompt, title: 'Otter' } }), key })
    await test.fetch(`/api/prompts/${id}`, { ...json('PATCH', { title: 'Sea walrus', visibility: 'public' }), key })
    await test.fetch(`/api/prompts/${id}`, { ...json('PATCH', { title: 'Sea walrus' }), key })
    await test.fetch(`/api/prompts/${id}`, { ...json('PATCH', { title: 'x', baseVersion: 1 }), key })
    await test.fetch(`/api/prompts/${id}`, { method: 'DELETE', key })
    expect(await log(from)).toEqual([
      ['item_created', 'ada', 'rest', { kind: 'prompt', version: 1, to: 'private' }],
      ['item_created', 'ada', 'mcp', { kind: 'prompt', version: 1, to: 'private' }],
      ['item_changed', 'ada', 'rest', { kind: 'prompt', version: 2, fields: ['title', 'slug'] }],
      ['item_visibility_changed', 'ada', 'rest', { kind: 'prompt', version: 2, from: 'private', to: 'public' }],
      ['item_deleted', 'ada', 'rest', { kind: 'prompt' }],
    ])
    const events = await eventsAfter(test.app.store, from)
    expect(new Set(events.map(({ keyId }) => keyId))).toEqual(new Set([actor.keyId]))
  })

  it('records what a browser does, and who signs in as themselves', async () => {
    await signUp(test, 'ada')
    const visitor = visit(test)
    await visitor.post('/sign-in', { name: 'ada', password: PASSWORD })
    await visitor.post('/settings/access', { do: 'create', name: 'laptop', scopes: ['read'] })
    expect((await log()).filter(([action]) => action !== 'setting_changed')).toEqual([
      ['account_created', 'ada', 'web', { role: 'admin' }],
      ['signed_in', 'ada', 'web', {}],
      ['signed_in', 'ada', 'web', {}],
      ['key_created', 'ada', 'web', { scopes: ['read'] }],
    ])
  })

  it('records one failed sign-in of an account in ten minutes, and none of nobody', async () => {
    await signUp(test, 'ada')
    const from = await lastOrder(test.app.store)
    for (const name of ['ada', 'nobody', 'ada', 'ADA']) await visit(test).post('/sign-in', { name, password: 'wrong wrong' })
    await expect.poll(() => log(from)).toEqual([['sign_in_failed', null, 'web', {}]])
    const [event] = await eventsAfter(test.app.store, from)
    expect(event?.targetName).toBe('ada')
  })

  it('has an event of each owner for each transaction of an import', async () => {
    const { actor } = await test.user('ada')
    const from = await lastOrder(test.app.store)
    const rows = Array.from({ length: 250 }, (_, index) => ({ title: `Title ${index}`, content: 'Text' }))
    const source = () => ({ name: 'rows', format: 'json', bytes: Readable.from([Buffer.from(JSON.stringify(rows))]) }) as const
    await importPrompts(test.app.store, source(), { owner: 'ada', visibility: undefined })
    await importPrompts(test.app.store, source(), { owner: 'ada', visibility: undefined })
    // A transaction ends after 200 entries, or a time.
    const events = await eventsAfter(test.app.store, from)
    expect(events.length).toBeLessThan(250)
    expect(new Set(events.map(({ action, targetId }) => `${action} ${targetId}`))).toEqual(new Set([`items_imported ${actor.userId}`]))
    expect(events.reduce((sum, { detail }) => sum + Number(detail['created']), 0)).toBe(250)
  })
})

describe('who reads the audit log', () => {
  let test: TestApp
  let ada: UserActor
  let ben: UserActor
  let admin: UserActor
  const ids = new Map<string, string>()

  beforeAll(async () => {
    test = await testApp()
    ada = (await test.user('ada')).actor
    ben = (await test.user('ben')).actor
    admin = { ...(await test.user('carol')).actor, scopes: new Set(ADMIN_RIGHTS) }
    ada = { ...ada, scopes: new Set(PERSON_RIGHTS) }
    ben = { ...ben, scopes: new Set(PERSON_RIGHTS) }
    for (const visibility of ['public', 'unlisted', 'private', 'deleted', 'held']) {
      const given = visibility === 'deleted' || visibility === 'held' ? 'public' : visibility
      const input = { title: `Title ${visibility}`, content: 'x', visibility: given }
      const { id } = Object((await test.call(ada, 'save_prompt', input)).prompt)
      ids.set(visibility, id)
      if (visibility === 'deleted') await test.call(ada, 'delete_item', { collection: 'prompts', id })
      if (visibility === 'held') await test.call(admin, 'set_held', { collection: 'prompts', id, isHeld: true })
    }
  })
  afterAll(() => test.close())

  const seen = async (actor: Actor, name: string, input: object = {}) => {
    const { events } = Object(await test.call(actor, name, { limit: 500, ...input }))
    return events.map(({ action, target }: AuditRecord) => [action, target.id, target.name])
  }

  it('administrators see all of it, with titles that anybody sees and no address of anything hidden', async () => {
    const rows = (await seen(admin, 'list_audit_events')).filter(([action]: [string]) => action.startsWith('item_'))
    const start = (visibility: string) => ids.get(visibility)?.slice(0, 8)
    expect(rows).toEqual([
      ['item_held', start('held'), null],
      ['item_created', start('held'), null],
      ['item_deleted', start('deleted'), null],
      ['item_created', start('deleted'), null],
      ['item_created', start('private'), null],
      ['item_created', start('unlisted'), null],
      ['item_created', ids.get('public'), 'Title public'],
    ])
    const text = JSON.stringify(await test.call(admin, 'list_audit_events', { limit: 500 }))
    for (const hidden of ['unlisted', 'private', 'deleted', 'held']) expect(text).not.toContain(ids.get(hidden))
  })

  it('everybody sees what they did, and what others did to what is theirs', async () => {
    const rows = (await seen(ada, 'list_own_activity')).filter(([action]: [string]) => action.startsWith('item_'))
    expect(rows).toEqual([
      ['item_held', ids.get('held'), 'Title held'],
      ['item_created', ids.get('held'), 'Title held'],
      ['item_deleted', ids.get('deleted'), null],
      ['item_created', ids.get('deleted'), null],
      ['item_created', ids.get('private'), 'Title private'],
      ['item_created', ids.get('unlisted'), 'Title unlisted'],
      ['item_created', ids.get('public'), 'Title public'],
    ])
    expect(await seen(ben, 'list_own_activity')).toEqual([
      ['key_created', ben.keyId, 'test'],
      ['user_created', ben.userId, 'ben'],
    ])
    expect((await seen(admin, 'list_own_activity'))[0]).toEqual(['item_held', ids.get('held')?.slice(0, 8), null])
  })

  it('nobody else does', async () => {
    await expect(test.call(ANONYMOUS, 'list_own_activity', {})).rejects.toMatchObject({ code: 'unauthenticated' })
    await expect(test.call((await test.user('ada')).actor, 'list_own_activity', {})).rejects.toMatchObject({ code: 'forbidden' })
    await expect(test.call(ada, 'list_audit_events', {})).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('is narrowed by person, action, target and time, and read in pages', async () => {
    const all = await seen(admin, 'list_audit_events', { username: 'ada' })
    expect(all).toContainEqual(['item_held', ids.get('held')?.slice(0, 8), null])
    expect(await seen(admin, 'list_audit_events', { action: 'item_held' })).toHaveLength(1)
    expect(await seen(admin, 'list_audit_events', { target: ids.get('held')?.slice(0, 8) })).toHaveLength(2)
    expect(await seen(admin, 'list_audit_events', { since: '2027-01-01' })).toEqual([])
    const walked: unknown[] = []
    for (let cursor: string | undefined; ; ) {
      const page = Object(await test.call(admin, 'list_audit_events', { username: 'ada', limit: 3, cursor }))
      expect(page.events.length).toBeLessThanOrEqual(3)
      walked.push(...page.events.map(({ action, target }: AuditRecord) => [action, target.id, target.name]))
      // What is written meanwhile moves nothing.
      await test.user('ada')
      if (page.nextCursor === null) break
      cursor = page.nextCursor
    }
    expect(walked).toEqual(all)
    for (const input of [{ cursor: 'x' }, { action: 'item_eaten' }, { target: "'" }, { since: 'yesterday' }]) {
      await expect(test.call(admin, 'list_audit_events', input)).rejects.toMatchObject({ code: 'invalid_input' })
    }
  })

  it('somebody who deleted their account is named no more', async () => {
    await signUp(test, 'zoe')
    const zoe = await test.app.store.people.findPersonByName('zoe')
    const actor: UserActor = { kind: 'user', userId: zoe?.id ?? '', username: 'zoe', scopes: new Set(PERSON_RIGHTS) }
    await test.call(actor, 'delete_account', { password: PASSWORD, username: 'zoe' })
    const { events } = Object(await test.call(admin, 'list_audit_events', { limit: 1 }))
    expect(events).toMatchObject([{ action: 'account_deleted', actor: { id: zoe?.id, name: null }, target: { id: zoe?.id, name: null } }])
  })
})
