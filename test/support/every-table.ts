import { LIBRARY_COLUMNS } from '../../src/storage/copy/library-columns.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'

const AT = '2026-01-01T00:00:00.000Z'
/** Texts and names that engines might order, or keep, in ways of their own. */
const TEXTS = ['', ' ', 'a', 'B', 'é', 'e\u0301', '\uffff', '\u{10ffff}', '\ufeff', "it's\r\n\t\\x00 \\ % _ $1", '𝒳', 'İ', '\u0001']
const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte)

/** Writes rows into every table of a library, past all rules: each has one that is hard to copy, and numbers are missing at the end. */
export async function fillEveryTable(database: OpenDatabase): Promise<void> {
  await database.transact(async (db) => {
    const people = TEXTS.map((text, index) => ({
      id: `user-${index}`,
      username: text,
      username_key: text,
      contributor_key: index % 2 === 0 ? null : text,
      default_visibility: 'private' as const,
      created_at: AT,
      display_name: text,
      removal: index === 3 ? ('free_name' as const) : null,
      is_team: index === 2 ? 1 : 0,
      role_given_by: index === 1 ? text : null,
    }))
    await db.insertInto('user').values(people).execute()
    const times = { created_at: AT, updated_at: AT }
    await db
      .insertInto('login')
      .values({ id: 'user-2', name: 'a', email: 'a@example.org', email_verified: 1, image: null, ...times })
      .execute()
    const account = {
      access_token: null,
      refresh_token: null,
      id_token: null,
      access_token_expires_at: null,
      refresh_token_expires_at: null,
    }
    await db
      .insertInto('login_account')
      .values({
        id: 'l',
        user_id: 'user-2',
        provider_id: 'credential',
        account_id: 'x',
        password: 'hash',
        scope: null,
        ...account,
        ...times,
      })
      .execute()
    await db
      .insertInto('login_session')
      .values({
        id: 's',
        user_id: 'user-2',
        token: 't',
        expires_at: AT,
        ip_address: null,
        user_agent: '🙂',
        opened_by: 'provider',
        is_unseen: 1,
        ...times,
      })
      .execute()
    await db
      .insertInto('login_factor')
      .values({ id: 'f', user_id: 'user-2', secret: 'sealed', last_step: 57_000_000, created_at: AT })
      .execute()
    await db
      .insertInto('login_recovery_code')
      .values(TEXTS.map((text, index) => ({ id: `rc${index}`, user_id: 'user-2', sha256: text })))
      .execute()
    const credential = { public_key: 'k', credential_id: 'c', counter: 4_294_967_295, device_type: 'multiDevice', backed_up: 1 }
    await db
      .insertInto('login_passkey')
      .values({ ...credential, id: 'pk', user_id: 'user-2', name: 'é', transports: 'usb', aaguid: null, created_at: AT, used_at: null })
      .execute()
    await db
      .insertInto('login_verification')
      .values({ id: 'v', identifier: 'i', value: 'x', expires_at: AT, ...times })
      .execute()
    await db.insertInto('team_member').values({ team_seq: 3, user_seq: 1, role: 'maintainer', joined_at: AT, given_by: 'é' }).execute()
    await db
      .insertInto('former_name')
      .values(TEXTS.map((text) => ({ username_key: text, user_seq: 3 })))
      .execute()
    const unused = { used_at: null, used_by: null, revoked_at: null }
    await db
      .insertInto('invite')
      .values({ id: 'n', sha256: 'y', username: null, role: 'admin', created_at: AT, expires_at: AT, ...unused })
      .execute()
    await db
      .insertInto('install_link')
      .values({ id: 'il', user_seq: 1, name: '', sha256: 'zz', scope: '/tags/é', created_at: AT, expires_at: AT })
      .execute()
    await db
      .insertInto('sync_state')
      .values(TEXTS.map((text) => ({ user_seq: 1, target: '/é', path: text, item_id: 'x', digest: 'd', library_digest: 'e', version: 1 })))
      .execute()
    await db
      .insertInto('api_key')
      .values({ id: 'k', user_seq: 1, name: '', sha256: 'z', scopes: '["read"]', created_at: AT, within: '{"team":"é"}' })
      .execute()
    const client = Object.fromEntries(LIBRARY_COLUMNS.oauth_client.map((column) => [column, null]))
    await db
      .insertInto('oauth_client')
      .values({ ...client, id: 'oc', client_id: 'https://é.example/c', redirect_uris: '["é:/"]', disabled: 0 })
      .execute()
    await db
      .insertInto('oauth_client_resource')
      .values({ id: 'or', client_id: 'c', resource_id: 'r', metadata: null, created_at: AT })
      .execute()
    const granted = {
      client_id: 'c',
      user_id: 'user-2',
      reference_id: 'k',
      resources: '["r"]',
      requested_user_info_claims: null,
      scopes: '[]',
    }
    const token = {
      ...granted,
      session_id: 's',
      authorization_code_id: 'ac',
      expires_at: AT,
      created_at: AT,
      revoked: null,
      confirmation: null,
    }
    const rotated = { rotated_at: AT, rotation_replay_response: '🙂', rotation_replay_expires_at: AT, auth_time: AT }
    await db
      .insertInto('oauth_refresh_token')
      .values({ ...token, ...rotated, id: 'rt', token: 'rt' })
      .execute()
    await db
      .insertInto('oauth_access_token')
      .values({ ...token, id: 'at', token: 'at', refresh_id: 'rt' })
      .execute()
    await db
      .insertInto('oauth_consent')
      .values({ ...granted, id: 'ct', created_at: AT, updated_at: AT })
      .execute()
    await db
      .insertInto('oauth_resource')
      .values({
        ...Object.fromEntries(LIBRARY_COLUMNS.oauth_resource.map((column) => [column, null])),
        id: 'os',
        identifier: 'r',
        name: 'r',
      })
      .execute()
    await db.insertInto('oauth_client_assertion').values({ id: 'oa', expires_at: AT }).execute()
    await db.insertInto('category').values({ slug: 'ours', name: 'Ours', parent_seq: 1, position: 99 }).execute()
    const item = {
      kind: 'prompt' as const,
      type: 'TEXT',
      variables: '[]',
      contributors: '[]',
      owner_seq: 1,
      author_seq: 2,
      visibility: 'public' as const,
      created_at: AT,
      updated_at: AT,
    }
    const items = TEXTS.map((text, index) => ({
      ...item,
      id: `item-${index}`,
      slug: text,
      title: text,
      description: text,
      content: text.repeat(1000),
      category_seq: index === 0 ? null : 1,
      was_public: index % 2,
      version: 2 ** 31 - 1 - index,
      deleted_at: index === 4 ? AT : null,
    }))
    await db.insertInto('item').values(items).execute()
    await db
      .insertInto('shared_change')
      .values(TEXTS.map((path) => ({ item_seq: 1, revision: 2 ** 40, version: 1, audience: 'deleted', path, category: path, at: AT })))
      .execute()
    await db
      .insertInto('slug')
      .values(TEXTS.map((slug, index) => ({ slug, item_seq: index + 1 })))
      .execute()
    await db
      .insertInto('retired_slug')
      .values(TEXTS.map((slug) => ({ slug })))
      .execute()
    await db
      .insertInto('purge')
      .values(TEXTS.map((text) => ({ item_id: text, first_version: 1, last_version: null, file_key: text, made_at: AT })))
      .execute()
    await db
      .insertInto('item_tag')
      .values(TEXTS.map((slug, position) => ({ item_seq: 1, slug, name: slug, position })))
      .execute()
    await db.insertInto('vote').values({ item_seq: 1, user_seq: 2, created_at: AT }).execute()
    await db.insertInto('item_source').values({ item_seq: 2, source_id: 'item-1' }).execute()
    await db
      .insertInto('item_offer')
      .values({ id: 'of', item_seq: 2, to_seq: 3, by_seq: 1, leaves_out_private: 1, created_at: AT, expires_at: AT })
      .execute()
    await db.insertInto('favourite').values({ item_seq: 1, user_seq: 2, created_at: AT }).execute()
    const collections = TEXTS.map((text, index) => ({
      id: `collection-${index}`,
      slug: text,
      owner_seq: 1,
      title: text,
      title_key: text,
      description: index === 0 ? null : text,
      visibility: 'members' as const,
      was_public: index % 2,
      version: 1,
      created_at: AT,
      updated_at: AT,
    }))
    await db.insertInto('collection').values(collections).execute()
    await db
      .insertInto('collection_slug')
      .values(TEXTS.map((slug, index) => ({ slug, collection_seq: index === 0 ? null : index })))
      .execute()
    await db
      .insertInto('collection_item')
      .values([-(2 ** 40), 0, 2 ** 40].map((position, index) => ({ collection_seq: 1, item_seq: index + 1, position })))
      .execute()
    const { kind: _, variables: __, contributors: ___, owner_seq: ____, updated_at: _____, ...version } = item
    const versions = TEXTS.map((content, number) => ({
      ...version,
      item_seq: 1,
      number,
      title: '',
      description: null,
      content,
      tags: '[]',
    }))
    await db.insertInto('version').values(versions).execute()
    // More than a page.
    const blobs = Array.from({ length: 40 }, (_, index) => ({ sha256: `blob-${index}`, bytes: EVERY_BYTE.slice(0, index === 0 ? 0 : 256) }))
    await db.insertInto('blob').values(blobs).execute()
    await db
      .insertInto('skill_file')
      .values(TEXTS.map((filename, index) => ({ item_seq: 2, filename, sha256: `blob-${index}`, size: index })))
      .execute()
    await db.insertInto('version_file').values({ version_seq: 1, filename: 'SKILL.md', sha256: 'blob-3', size: 256 }).execute()
    await db.insertInto('secret').values({ name: 'sealing_key', value: 'secret' }).execute()
    await db.insertInto('session').values({ sha256: 'm', owner: '{}', quota: 'q', initialize: '{}', holder: null, seen_at: AT }).execute()
    await db
      .insertInto('word')
      .values(TEXTS.map((word) => ({ word, stem: word })))
      .execute()
    await db.insertInto('word_removal').defaultValues().execute()
    const lengths = { analysis: 1, title_length: 1, body_length: 1 }
    const words = TEXTS.map((_, index) => ({ item_seq: index + 1, revision: index + 7, ...lengths, words: EVERY_BYTE, vector: null }))
    await db.insertInto('item_words').values(words).execute()
    await db.insertInto('embedding').values({ item_seq: 1, model: 'm', digest: 'd', dims: 8, code: EVERY_BYTE }).execute()
    await db.insertInto('embedding_vector').values({ embedding_seq: 1, vector: EVERY_BYTE }).execute()
    const vectors = TEXTS.map((text, index) => ({ item_seq: index + 1, model: text, digest: 'd', vector: EVERY_BYTE }))
    await db.insertInto('item_vector').values(vectors).execute()
    await db.insertInto('improve_usage').values({ caller: 'c', day: '2026-01-01', requests: 1, characters: 2 }).execute()
    await db
      .insertInto('use_count')
      .values({ day: '2026-01-01', kind: 'read', surface: 'mcp', item_id: 'i', version: 2, key_id: '', count: 3 })
      .execute()
    await db.insertInto('embed').values({ id: 'e', owner_seq: 1, config: '{"a":1}', created_at: AT }).execute()
    await db
      .insertInto('audit_event')
      .values(
        TEXTS.map((text, index) => ({
          at: AT,
          actor_id: index % 2 === 0 ? null : text,
          key_id: null,
          surface: 'cli' as const,
          action: 'items_imported' as const,
          target_id: text,
          owner_id: null,
          detail: '{"created":1}',
        })),
      )
      .execute()
    await db.insertInto('form_draft').values({ id: 'f', owner_seq: 1, body: '{}', created_at: AT }).execute()
    await db.insertInto('instance_mail').values({ instance: 'i', body: 'b', created_at: AT }).execute()
    await db.insertInto('read_mark').values({ caller: 'c', xid: 1 }).execute()
    await db.insertInto('counter').values({ name: 'n', ends_at: AT, points: 1 }).execute()
    await db.insertInto('embedding_claim').values({ item_seq: 1, model: 'm', instance: 'i', until: AT }).execute()
    // The last numbers belong to rows that are gone.
    await db.deleteFrom('word').where('seq', '>', 10).execute()
    await db.deleteFrom('session').execute()
    await db
      .insertInto('session')
      .values(['x', 'y'].map((sha256) => ({ sha256, owner: '{}', quota: 'q', initialize: '{}', holder: null, seen_at: AT })))
      .execute()
    await db.deleteFrom('session').where('sha256', '=', 'y').execute()
  })
}
