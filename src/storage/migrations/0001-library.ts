import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** The categories a new library starts with: [slug, name, children]. */
const CATEGORIES: readonly (readonly [string, string, readonly (readonly [string, string])[]])[] = [
  [
    'coding',
    'Coding',
    [
      ['code-review', 'Code review'],
      ['testing', 'Testing'],
      ['devops', 'DevOps'],
      ['data', 'Data and SQL'],
    ],
  ],
  [
    'writing',
    'Writing',
    [
      ['editing', 'Editing'],
      ['marketing', 'Marketing'],
      ['translation', 'Translation'],
    ],
  ],
  [
    'business',
    'Business',
    [
      ['product', 'Product'],
      ['career', 'Career'],
    ],
  ],
  [
    'learning',
    'Learning',
    [
      ['tutoring', 'Tutoring'],
      ['languages', 'Languages'],
    ],
  ],
  [
    'creative',
    'Creative',
    [
      ['fiction', 'Fiction'],
      ['games', 'Games'],
    ],
  ],
  [
    'media',
    'Media',
    [
      ['image', 'Image'],
      ['video', 'Video'],
      ['audio', 'Audio'],
    ],
  ],
  [
    'productivity',
    'Productivity',
    [
      ['planning', 'Planning'],
      ['meetings', 'Meetings'],
    ],
  ],
  ['research', 'Research', [['analysis', 'Analysis']]],
  [
    'life',
    'Life',
    [
      ['health', 'Health'],
      ['cooking', 'Cooking'],
      ['travel', 'Travel'],
    ],
  ],
]

/** Everything the library stores, and its seeded categories. */
export async function createLibrary(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('user')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('username', 'text', (c) => c.notNull())
    .addColumn('username_key', 'text', (c) => c.notNull().unique())
    .addColumn('contributor_key', 'text', (c) => c.unique())
    .addColumn('default_visibility', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('api_key')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('user_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('sha256', 'text', (c) => c.notNull().unique())
    .addColumn('scopes', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_used_at', 'text')
    .addColumn('expires_at', 'text')
    .addColumn('revoked_at', 'text')
    .execute()
  await db.schema.createIndex('api_key_user').on('api_key').column('user_seq').execute()
  await db.schema
    .createTable('category')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('slug', 'text', (c) => c.notNull().unique())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('parent_seq', 'integer', (c) => c.references('category.seq'))
    .addColumn('position', 'integer', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('item')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('slug', 'text', (c) => c.notNull().unique())
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('type', 'text')
    .addColumn('content', 'text', (c) => c.notNull())
    .addColumn('variables', 'text', (c) => c.notNull())
    .addColumn('owner_seq', 'integer', (c) => c.notNull().references('user.seq'))
    .addColumn('author_seq', 'integer', (c) => c.notNull().references('user.seq'))
    .addColumn('contributors', 'text', (c) => c.notNull())
    .addColumn('category_seq', 'integer', (c) => c.references('category.seq'))
    .addColumn('visibility', 'text', (c) => c.notNull())
    .addColumn('was_public', 'integer', (c) => c.notNull())
    .addColumn('votes', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('imported_version', 'integer')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addColumn('deleted_at', 'text')
    .execute()
  // The newest-first walk, the most-voted list, and what an import finds again.
  await db.schema.createIndex('item_newest').on('item').columns(['kind', 'created_at', 'seq']).execute()
  await db.schema.createIndex('item_votes').on('item').columns(['kind', 'votes', 'seq']).execute()
  await db.schema.createIndex('item_owner').on('item').columns(['owner_seq', 'author_seq', 'kind', 'title']).execute()
  await db.schema.createIndex('item_author').on('item').columns(['author_seq', 'kind']).execute()
  await db.schema.createIndex('item_category').on('item').columns(['category_seq', 'kind']).execute()
  await db.schema
    .createTable('slug')
    .addColumn('slug', 'text', (c) => c.primaryKey())
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq'))
    .execute()
  await db.schema
    .createTable('item_tag')
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('position', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('item_tag_pk', ['item_seq', 'slug'])
    .execute()
  await db.schema.createIndex('item_tag_slug').on('item_tag').columns(['slug', 'item_seq']).execute()
  await db.schema
    .createTable('vote')
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('user_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('vote_pk', ['item_seq', 'user_seq'])
    .execute()
  await db.schema
    .createTable('version')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('number', 'integer', (c) => c.notNull())
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('type', 'text')
    .addColumn('content', 'text', (c) => c.notNull())
    .addColumn('category', 'text')
    .addColumn('tags', 'text', (c) => c.notNull())
    .addColumn('visibility', 'text', (c) => c.notNull())
    .addColumn('note', 'text')
    .addColumn('author_seq', 'integer', (c) => c.notNull().references('user.seq'))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('version_number', ['item_seq', 'number'])
    .execute()
  await db.schema
    .createTable('blob')
    .addColumn('sha256', 'text', (c) => c.primaryKey())
    .addColumn('bytes', sql.raw(dialect.blobType), (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('skill_file')
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('filename', 'text', (c) => c.notNull())
    .addColumn('sha256', 'text', (c) => c.notNull().references('blob.sha256'))
    .addColumn('size', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('skill_file_pk', ['item_seq', 'filename'])
    .execute()
  await db.schema
    .createTable('version_file')
    .addColumn('version_seq', 'integer', (c) => c.notNull().references('version.seq').onDelete('cascade'))
    .addColumn('filename', 'text', (c) => c.notNull())
    .addColumn('sha256', 'text', (c) => c.notNull().references('blob.sha256'))
    .addColumn('size', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('version_file_pk', ['version_seq', 'filename'])
    .execute()
  await db.schema
    .createTable('secret')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('value', 'text', (c) => c.notNull())
    .execute()
  for (const [position, [slug, name, children]] of CATEGORIES.entries()) {
    const parent = await db
      .insertInto('category')
      .values({ slug, name, parent_seq: null, position })
      .returning('seq')
      .executeTakeFirstOrThrow()
    for (const [place, [childSlug, childName]] of children.entries()) {
      await db.insertInto('category').values({ slug: childSlug, name: childName, parent_seq: parent.seq, position: place }).execute()
    }
  }
}
