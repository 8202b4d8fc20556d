import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { toTags } from '../../domain/items/filing.ts'
import type { Random } from '../../domain/ports/environment.ts'
import { readNamedFrontmatter } from '../../domain/skills/frontmatter.ts'
import { decodeText, SKILL_MD } from '../../domain/skills/skill.ts'
import { parseVariables } from '../../domain/variables/variables.ts'
import { AppError } from '../../errors.ts'
import { logChanges, readSharedStates } from '../change-log.ts'
import type { Database } from '../schema.ts'
import { keepChannelName } from '../slugs.ts'
import { refuse } from './check-rows.ts'
import { fillFile } from './library-file.ts'
import { insertRows, type Row } from './table-rows.ts'

/** Whole exports of 0.2.0, a folder with one record a line. They are read until 2.0; the rows are checked as those of a file. */

const manifest = z.object({ format: z.literal(1), digest: z.string() })
const file = z.object({ filename: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/), size: z.number() })
const text = z.string()
const orNull = z.string().nullable()
const state = z.object({
  title: text,
  description: orNull,
  type: text.optional(),
  content: text.optional(),
  files: z.array(file).optional(),
  category: orNull,
  tags: z.array(text),
  visibility: text,
})
const record = z.discriminatedUnion('record', [
  z.object({ record: z.literal('category'), slug: text, name: text, parent: orNull, position: z.number() }),
  z.object({
    record: z.literal('user'),
    username: text,
    contributor: orNull,
    displayName: orNull,
    bio: orNull,
    website: orNull,
    createdAt: text,
  }),
  z.object({ record: z.literal('retiredSlug'), slug: text }),
  state.extend({
    record: z.literal('item'),
    id: text,
    kind: text,
    slug: text,
    owner: text,
    author: text,
    contributors: z.array(text),
    wasPublic: z.boolean(),
    version: z.number(),
    importedVersion: z.number().nullable(),
    createdAt: text,
    updatedAt: text,
    deletedAt: orNull,
    featuredAt: orNull,
    heldAt: orNull,
    heldFrom: orNull,
  }),
  z.object({ record: z.literal('slug'), slug: text }),
  state.partial().extend({ record: z.literal('version'), number: z.number(), note: orNull, author: text, createdAt: text }),
  z.object({ record: z.literal('vote'), user: text, createdAt: text }),
])
type EarlierRecord = z.infer<typeof record>

/** Writes a whole export of 0.2.0 as a library file. @throws AppError `invalid_input` when it is damaged, or of another version */
export async function writeEarlierExport(exported: string, target: string, random: Random): Promise<void> {
  const folder = join(exported, 'history')
  await explain(folder, async () => {
    const { digest } = manifest.parse(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')))
    await fillFile(target, async (db) => {
      const hash = createHash('sha256')
      const write = createWriter(db, folder, random)
      for await (const line of readLines(join(folder, 'records.jsonl'), hash)) await write(record.parse(JSON.parse(line)))
      if (hash.digest('hex') !== digest) refuse('its records do not match its manifest')
      await finish(db)
    })
  })
}

/** Columns of the fields of a record: named as databases do, with lists as JSON. */
function toRow(fields: Readonly<Record<string, string | number | boolean | null | undefined | readonly string[]>>): Row {
  const cells = Object.entries(fields).map(([name, value]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    typeof value === 'boolean' ? Number(value) : typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null),
  ])
  return Object.fromEntries(cells)
}

/** Inserts each record as it comes: what it names stands before it. */
function createWriter(db: Kysely<Database>, folder: string, random: Random) {
  const [users, categories] = [new Map<string, number>(), new Map<string, number>()]
  const blobs = new Set<string>()
  let item: Extract<EarlierRecord, { record: 'item' }> | null = null
  let [itemSeq, versionSeq, lastNumber] = [0, 0, 0]
  const find = (map: ReadonlyMap<string, number>, name: string) => map.get(name.toLowerCase()) ?? refuse(`"${name}" is named and not in it`)
  const categoryOf = (slug: string | null) => (slug === null ? null : find(categories, slug))
  const insert = (table: string, row: Row) => insertRows(db, table, [row])
  const read = (sha256: string) => readFileSync(join(folder, 'files', sha256.slice(0, 2), sha256))
  const insertFiles = async (table: string, of: Row, files: readonly z.infer<typeof file>[]) => {
    for (const { filename, sha256, size } of files) {
      if (!blobs.has(sha256)) await insert('blob', { sha256, bytes: read(sha256) })
      blobs.add(sha256)
      await insert(table, { ...of, filename, sha256, size })
    }
  }
  const writers: { [Kind in EarlierRecord['record']]: (one: Extract<EarlierRecord, { record: Kind }>) => Promise<void> } = {
    async category({ record: _, parent, ...one }) {
      const seq = categories.size + 1
      await insert('category', { seq, ...one, parent_seq: categoryOf(parent) })
      categories.set(one.slug, seq)
    },
    async user({ record: _, contributor, ...one }) {
      const [seq, key] = [users.size + 1, one.username.toLowerCase()]
      await insert(
        'user',
        toRow({ seq, id: random.id(), usernameKey: key, contributorKey: contributor, ...one, defaultVisibility: 'private' }),
      )
      users.set(key, seq)
    },
    retiredSlug: ({ slug }) => insert('retired_slug', { slug }),
    async item(one) {
      item = one
      lastNumber = 0
      itemSeq++
      const { record: _, owner, author, category, tags, files = [], content, ...rest } = one
      const readme = files.find(({ filename }) => filename === SKILL_MD)
      const frontmatter = readme && readNamedFrontmatter(decodeText(read(readme.sha256)) ?? '')
      const columns = toRow({ seq: itemSeq, ...rest, content: content ?? '', skillName: frontmatter?.name })
      const variables = JSON.stringify(content === undefined ? [] : parseVariables(content).variables)
      const refs = { owner_seq: find(users, owner), author_seq: find(users, author), category_seq: categoryOf(category) }
      await insert('item', { ...columns, variables, ...refs })
      for (const [position, tag] of toTags(tags).entries()) await insert('item_tag', { item_seq: itemSeq, ...tag, position })
      await insertFiles('skill_file', { item_seq: itemSeq }, files)
    },
    slug: ({ slug }) => insert('slug', { slug, item_seq: itemSeq }),
    vote: ({ user, createdAt }) => insert('vote', { item_seq: itemSeq, user_seq: find(users, user), created_at: createdAt }),
    async version(one) {
      const { number, note, createdAt, author } = one
      // Missing numbers are of purged versions.
      const gap = { item_id: item?.id ?? '', first_version: lastNumber + 1, last_version: number - 1, made_at: createdAt }
      if (number > lastNumber + 1) await insert('purge', gap)
      lastNumber = number
      // The newest version leaves out what is the same as in its item.
      const whole = state.safeParse(number === item?.version ? { ...item, ...one } : one)
      if (!whole.success) refuse(`version ${number} of item ${item?.id} is not whole`)
      const { files = [], content = '', type, ...texts } = whole.data
      const row = toRow({ seq: ++versionSeq, itemSeq, number, ...texts, type, content, note, createdAt, authorSeq: find(users, author) })
      await insert('version', row)
      await insertFiles('version_file', { version_seq: versionSeq }, files)
    },
  }
  return <Kind extends EarlierRecord['record']>(one: Extract<EarlierRecord, { record: Kind }> & { record: Kind }) =>
    writers[one.record](one)
}

/** Counts votes, and adds what 0.2.0 did not have: public skills get their names in the order they were made, and the log begins with what is there. */
async function finish(db: Kysely<Database>): Promise<void> {
  await sql`update item set votes = (select count(*) from vote where vote.item_seq = item.seq)`.execute(db)
  const items = await db.selectFrom('item').select(['seq', 'updated_at']).orderBy('seq').execute()
  for (const { seq } of items) await keepChannelName(db, seq)
  const seqs = items.map(({ seq }) => seq)
  await logChanges(db, await readSharedStates(db, seqs), [], { at: items.at(-1)?.updated_at ?? '', by: null })
}

/** The lines of a file, which end at LF alone: JSON may hold other ends of lines as they are. */
async function* readLines(path: string, hash: { update(text: string): unknown }): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(path, 'utf8')) {
    hash.update(chunk)
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') refuse('its last line is not whole')
}

async function explain(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : String(error)
    throw new AppError('invalid_input', `${folder} is no whole export of 0.2.0, or is damaged: ${reason}.`, { cause: error })
  }
}
