import {
  type ExpressionBuilder,
  type ExpressionWrapper,
  type InferResult,
  type Kysely,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import { z } from 'zod'
import { PROMPT_TYPES } from '../../domain/items/fields.ts'
import type { ItemMarks } from '../../domain/items/item-access.ts'
import { type Item, type ItemKind, isOfKind, type Skill, type Tag } from '../../domain/items/items.ts'
import type { Label } from '../../domain/items/labels.ts'
import type { SearchResult } from '../../domain/items/search.ts'
import { othersMaySee, type VisibleSet, visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { hasRight } from '../../domain/people/teams.ts'
import { type PromptBody, ROLES } from '../../domain/prompts/body.ts'
import type { PromptConfig } from '../../domain/prompts/config.ts'
import { listSkillFiles } from '../../domain/skills/skill.ts'
import { isId } from '../../domain/text/addresses.ts'
import type { Variable } from '../../domain/variables/variables.ts'
import { findRole, ownersSeenBy } from '../people/user-rows.ts'
import { isOneOf, prepareListQuery } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { readLabels } from './item-labels.ts'

/** Texts in a column: names, or rules. */
export const textsJson = z.array(z.string())
/** The variables column, parsed. */
export const variablesJson = z.array(z.object({ name: z.string(), required: z.boolean(), default: z.string().optional() }))
export const promptType = z.enum(PROMPT_TYPES)

/** A query for items with owner, author and category; the caller adds conditions. */
export function selectItems(db: Kysely<Database>) {
  return db
    .selectFrom('item')
    .innerJoin('user as owner', 'owner.seq', 'item.owner_seq')
    .innerJoin('user as author', 'author.seq', 'item.author_seq')
    .leftJoin('category', 'category.seq', 'item.category_seq')
    .selectAll('item')
    .select(['owner.id as owner_id', 'author.username as author_name'])
    .select(['category.slug as category_slug', 'category.name as category_name'])
}

/** Whether an item is the one that an id or a slug names, as a condition. */
export function isNamed(ref: string, by: 'id' | 'slug' = isId(ref) ? 'id' : 'slug') {
  return by === 'id' ? sql<boolean>`item.id = ${ref}` : sql<boolean>`item.seq = (select slug.item_seq from slug where slug.slug = ${ref})`
}

/** The row of an item that is not in the trash. */
export function findLiveRow(db: Kysely<Database>, id: string, kind?: ItemKind): Promise<ItemRow | undefined> {
  const live = selectItems(db).where('item.id', '=', id).where('item.deleted_at', 'is', null)
  return (kind ? live.where('item.kind', '=', kind) : live).executeTakeFirst()
}

/** An item's row with the names it refers to. */
export type ItemRow = Omit<InferResult<ReturnType<typeof selectItems>>[number], 'skill_name' | 'channel_name'>

/**
 * The restriction of a key, as a condition on a table of items. A collection counts as long as the key's owner may see it by its
 * id. In one of somebody else, items count that anybody in the owner's place sees: what is in it is the other's choice.
 * @param set of the key
 */
export function isWithin({ visibilities, readerId, within }: VisibleSet, table = 'item') {
  if (within === null) return sql<boolean>`1 = 1`
  if ('team' in within) {
    return sql<boolean>`${sql.ref(`${table}.owner_seq`)} = (select "user".seq from "user" where "user".id = ${within.team})`
  }
  const isShown = isOneOf('collection.visibility', othersMaySee(readerId === null ? 'stranger' : 'member', 'id'))
  return sql<boolean>`${sql.ref(`${table}.seq`)} in (select collection_item.item_seq from collection_item
    join collection on collection.seq = collection_item.collection_seq
    where ${isOneOf('collection.id', within.collections)}
    and (collection.owner_seq in ${ownersSeenBy(readerId)} or (${isShown} and ${isOneOf(`${table}.visibility`, visibilities)})))`
}

/** The visibility rule as a condition, from the same table as the check in memory. */
export function isInVisibleSet(set: VisibleSet) {
  return (eb: ExpressionBuilder<Database, 'item'>): ExpressionWrapper<Database, 'item', SqlBool> =>
    eb.and([
      eb('item.deleted_at', 'is', null),
      set.readerId === null
        ? isOneOf('item.visibility', set.visibilities)
        : eb.or([isOneOf('item.visibility', set.visibilities), eb('item.owner_seq', 'in', ownersSeenBy(set.readerId))]),
      ...(set.within === null ? [] : [isWithin(set)]),
    ])
}

const tagsOf = prepareListQuery((db, seqs) =>
  db.selectFrom('item_tag').select(['item_seq', 'name', 'slug']).where('item_seq', 'in', seqs).orderBy('item_seq').orderBy('position'),
)

/** The tags of some items, by row number. */
export async function readTags(db: Kysely<Database>, seqs: readonly number[]): Promise<Map<number, Tag[]>> {
  const tags = new Map<number, Tag[]>()
  if (seqs.length === 0) return tags
  for (const row of await tagsOf(db, seqs)) {
    const list = tags.get(row.item_seq) ?? []
    list.push({ name: row.name, slug: row.slug })
    tags.set(row.item_seq, list)
  }
  return tags
}

/** The names of tags, as versions and the log have them. */
export function namesOfTags(tags: readonly Tag[]): string {
  return JSON.stringify(tags.map(({ name }) => name))
}

/** A row as an item with these tags; `files` are the names and sizes of a skill's files. */
function toItem(row: ItemRow, tags: readonly Tag[], files: Skill['files'], labels: readonly Label[]): Item {
  const base = {
    id: row.id,
    slug: row.slug,
    title: row.title,
    description: row.description,
    ownerId: row.owner_id,
    author: row.author_name,
    contributors: textsJson.parse(JSON.parse(row.contributors)),
    category: row.category_slug !== null && row.category_name !== null ? { slug: row.category_slug, name: row.category_name } : null,
    tags,
    votes: row.votes,
    visibility: row.visibility,
    version: row.version,
    blockedVersion: row.blocked_version,
    labels,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
  }
  return row.kind === 'skill'
    ? { ...base, kind: row.kind, files: listSkillFiles(files) }
    : {
        ...base,
        kind: row.kind,
        type: promptType.parse(row.type),
        ...readBody(row),
        apiName: row.api_name,
        variables: readVariables(row.variables),
      }
}

const configJson = z.record(z.string(), z.unknown())
const messagesJson = z.array(
  z.union([z.object({ role: z.enum(ROLES), content: z.string() }), z.object({ type: z.literal('placeholder'), name: z.string() })]),
)

/** The body of a prompt, or of a version of one. */
export function readBody(row: Pick<ItemRow, 'content' | 'messages' | 'config' | 'syntax'>): PromptBody {
  return {
    content: row.content,
    messages: row.messages === null ? null : messagesJson.parse(JSON.parse(row.messages)),
    config: readConfig(row.config),
    syntax: row.syntax === 1 ? 1 : 2,
  }
}

/** Parses the config column. */
export function readConfig(json: string | null): PromptConfig | null {
  return json === null ? null : configJson.parse(JSON.parse(json))
}

/** Parses the variables column. */
export function readVariables(json: string): Variable[] {
  if (json === '[]') return []
  return variablesJson
    .parse(JSON.parse(json))
    .map((v) =>
      v.default === undefined ? { name: v.name, required: v.required } : { name: v.name, required: v.required, default: v.default },
    )
}

/** Rows as items in their order, with tags and the names of files. @param tagsOf tags by row number. Default: they are read */
export async function toItems(
  db: Kysely<Database>,
  rows: readonly ItemRow[],
  tagsOf?: ReadonlyMap<number, readonly Tag[]>,
): Promise<Item[]> {
  const [tags, labels] = await Promise.all([tagsOf ?? readTags(db, rows.map(seqOf)), readLabels(db, rows)])
  const skills = rows.filter(({ kind }) => kind === 'skill').map(seqOf)
  const files =
    skills.length === 0
      ? []
      : await db.selectFrom('skill_file').select(['item_seq', 'filename', 'size']).where('item_seq', 'in', skills).execute()
  const filesOf = Map.groupBy(files, ({ item_seq: seq }) => seq)
  return rows.map((row) => {
    const own = (filesOf.get(row.seq) ?? []).map(({ filename, size }) => ({ filename, size }))
    return toItem(row, tags.get(row.seq) ?? [], own, labels.get(row.seq) ?? [])
  })
}

/** Rows with their items, in order; those of the other kind are left out. */
export async function readRowsAs<Kind extends ItemKind, Row extends ItemRow>(db: Kysely<Database>, rows: readonly Row[], kind: Kind) {
  const items = await toItems(db, rows)
  const isWanted = isOfKind(kind)
  return rows.flatMap((row, place) => {
    const item = items[place]
    return item && isWanted(item) ? [{ row, item }] : []
  })
}

/** The number of a row. */
export function seqOf({ seq }: { readonly seq: number }): number {
  return seq
}

/** Items by row number, in the order asked for: sorting numbers over an index is cheap, sorting texts is not. */
export async function readItemsInOrder(db: Kysely<Database>, ordered: readonly { seq: number }[]): Promise<Item[]> {
  if (ordered.length === 0) return []
  const rows = await selectItems(db).where('item.seq', 'in', ordered.map(seqOf)).execute()
  const rowOf = new Map(rows.map((row) => [row.seq, row]))
  return await toItems(
    db,
    ordered.flatMap(({ seq }) => rowOf.get(seq) ?? []),
  )
}

/** A page of the items of a query in its order, and how many it has. */
export async function listItems<Tables extends keyof Database>(
  db: Kysely<Database>,
  query: SelectQueryBuilder<Database, Tables, { seq: number }>,
  page: { readonly limit: number; readonly offset: number },
): Promise<SearchResult<Item>> {
  const { rows, total } = await readPage(query, page)
  return { items: await readItemsInOrder(db, rows), total }
}

/** A page of the rows of a query in its order, and how many it has. */
export async function readPage<Tables, Name extends keyof Tables, Row extends object>(
  query: SelectQueryBuilder<Tables, Name, Row>,
  { limit, offset }: { readonly limit: number; readonly offset: number },
) {
  const rows = await query.limit(limit).offset(offset).execute()
  return { rows, total: await countRows(query) }
}

/** How many rows a query has, whatever it selects. */
export async function countRows<Tables, Name extends keyof Tables>(query: SelectQueryBuilder<Tables, Name, object>): Promise<number> {
  const { n } = await query
    .clearSelect()
    .clearOrderBy()
    .select((eb) => eb.fn.countAll().as('n'))
    .$castTo<{ n: number | string }>()
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Runs a query with a column `count`, which PostgreSQL gives as a text, and turns that into a number. */
export async function readCounts<Row extends { readonly count: number }>(query: { execute(): Promise<Row[]> }): Promise<Row[]> {
  return (await query.execute()).map((row) => ({ ...row, count: Number(row.count) }))
}

/** The state of an item that the actor sees: its owner, and the actor's role and marks. */
export async function readMarks(db: Kysely<Database>, actor: Actor, row: ItemRow): Promise<ItemMarks> {
  const userId = actor.kind === 'user' ? actor.userId : ''
  const marked = (table: 'vote' | 'favourite') =>
    db
      .selectFrom(table)
      .innerJoin('user', 'user.seq', `${table}.user_seq`)
      .select(`${table}.item_seq`)
      .where(`${table}.item_seq`, '=', row.seq)
      .where('user.id', '=', userId)
      .executeTakeFirst()
  const [owner, role, vote, favourite] = await Promise.all([
    db.selectFrom('user').select(['username', 'is_team']).where('id', '=', row.owner_id).executeTakeFirstOrThrow(),
    findRole(db, userId, row.owner_id),
    marked('vote'),
    marked('favourite'),
  ])
  return {
    id: row.id,
    owner: owner.username,
    isTeam: owner.is_team === 1,
    role,
    hasVoted: vote !== undefined,
    isFavourite: favourite !== undefined,
    version: hasRight(role, 'see') ? (row.blocked_version ?? row.version) : row.version,
    servedVersion: row.version,
    isFeatured: row.featured_at !== null,
    isHeld: row.held_at !== null,
  }
}

/** The item that an item was copied from, as far as lists show it to the actor. */
export async function readSource(db: Kysely<Database>, actor: Actor, row: ItemRow): Promise<Item | null> {
  const source = await selectItems(db)
    .innerJoin('item_source', 'item_source.source_id', 'item.id')
    .where('item_source.item_seq', '=', row.seq)
    .where(isInVisibleSet(visibleSet(actor, 'list')))
    .executeTakeFirst()
  return source ? ((await toItems(db, [source]))[0] ?? null) : null
}
