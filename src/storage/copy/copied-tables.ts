import type { Database } from '../schema.ts'

/** Tables with short-lived data of running instances, unfinished forms and imports. They are not copied. */
export const LEFT_TABLES = [
  'revision',
  'public_change',
  'read_mark',
  'instance_mail',
  'counter',
  'embedding_claim',
  'form_draft',
  'import',
  'import_entry',
  'oauth_resource',
  'oauth_client_assertion',
] as const satisfies readonly (keyof Database)[]

/** How the rows of a table are paged. */
interface Walk {
  /** Its primary key: the order of the walk, which is the same on every engine. Tables whose key is `seq` number their rows by themselves. */
  readonly key: readonly string[]
  /** Rows held in memory at once. Default: 500. Fewer where a row may be large. */
  readonly rowsAPage?: number
}

/** Every table of the library, after those it refers to. The compiler demands new ones, and a test compares with the databases. */
const WALKS = {
  user: { key: ['seq'] },
  team_member: { key: ['team_seq', 'user_seq'] },
  former_name: { key: ['username_key'] },
  login: { key: ['id'] },
  login_account: { key: ['id'] },
  login_session: { key: ['id'] },
  login_factor: { key: ['id'] },
  login_recovery_code: { key: ['id'] },
  login_passkey: { key: ['id'] },
  login_verification: { key: ['id'] },
  oauth_client: { key: ['id'] },
  oauth_client_resource: { key: ['id'] },
  oauth_refresh_token: { key: ['id'] },
  oauth_access_token: { key: ['id'] },
  oauth_consent: { key: ['id'] },
  invite: { key: ['id'] },
  api_key: { key: ['seq'] },
  install_link: { key: ['seq'] },
  sync_state: { key: ['user_seq', 'target', 'path'] },
  category: { key: ['seq'] },
  item: { key: ['seq'], rowsAPage: 100 },
  shared_change: { key: ['seq'] },
  slug: { key: ['slug'] },
  retired_slug: { key: ['slug'] },
  purge: { key: ['seq'] },
  item_tag: { key: ['item_seq', 'slug'] },
  vote: { key: ['item_seq', 'user_seq'] },
  item_source: { key: ['item_seq'] },
  import_source: { key: ['item_seq'] },
  favourite: { key: ['item_seq', 'user_seq'] },
  collection: { key: ['seq'] },
  collection_slug: { key: ['slug'] },
  item_offer: { key: ['seq'] },
  collection_item: { key: ['collection_seq', 'item_seq'] },
  version: { key: ['seq'], rowsAPage: 100 },
  blob: { key: ['sha256'], rowsAPage: 16 },
  skill_file: { key: ['item_seq', 'filename'] },
  version_file: { key: ['version_seq', 'filename'] },
  secret: { key: ['name'] },
  session: { key: ['seq'] },
  word: { key: ['seq'] },
  word_removal: { key: ['seq'] },
  item_words: { key: ['item_seq'], rowsAPage: 200 },
  owner_usage: { key: ['owner_seq'] },
  embedding: { key: ['seq'] },
  embedding_vector: { key: ['embedding_seq'], rowsAPage: 200 },
  item_vector: { key: ['seq'] },
  improve_usage: { key: ['caller', 'day'] },
  use_count: { key: ['day', 'kind', 'surface', 'item_id', 'version', 'key_id'] },
  embed: { key: ['id'] },
  audit_event: { key: ['seq'] },
} satisfies Record<Exclude<keyof Database, (typeof LEFT_TABLES)[number]>, Walk>

/** A table that is copied. */
export interface CopiedTable {
  readonly name: string
  readonly key: readonly string[]
  readonly rowsAPage: number
  readonly isNumbered: boolean
}

/** The tables that make a library, each after those it refers to. */
export const COPIED_TABLES: readonly CopiedTable[] = Object.entries<Walk>(WALKS).map(([name, { key, rowsAPage = 500 }]) => ({
  name,
  key,
  rowsAPage,
  isNumbered: key[0] === 'seq',
}))
