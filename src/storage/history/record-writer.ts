import { foldTitle } from '../../library/collections.ts'
import { readNamedFrontmatter } from '../../library/frontmatter.ts'
import type { FileEntry, HistoryRecord, RecordOf } from '../../library/history-records.ts'
import type { Random } from '../../library/ports/environment.ts'
import type { HistorySource } from '../../library/ports/transfer.ts'
import { decodeText, SKILL_MD } from '../../library/skill.ts'
import { toTags } from '../../library/tags.ts'
import { parseVariables } from '../../library/variables.ts'
import { audienceOf } from '../../library/visibility.ts'
import { placeAt } from '../collections/places.ts'
import type { RowBuffer } from '../copy/row-buffer.ts'
import { retireChannelName } from '../items/channel-names.ts'
import { checkState, completeState, refuse, shorten } from './check-records.ts'

/** Tables whose row numbers are assigned here. */
export const NUMBERED = ['user', 'category', 'item', 'version', 'collection', 'shared_change'] as const
export type Numbers = Record<(typeof NUMBERED)[number], number>

/** For the id of an account that is gone. */
const GONE = 'gone'

/** The item whose slugs, versions and votes follow. */
interface OpenItem {
  readonly record: RecordOf<'item'>
  readonly seq: number
  versions: number
  isSlugKept: boolean
  readonly voters: Set<number>
  readonly keepers: Set<number>
}

/** Writes records in order; null ends the last item. */
export function createWriter(rows: RowBuffer, numbers: Numbers, source: HistorySource, random: Random) {
  const users = new Map<string, { seq: number; id: string; isPlaceholder: boolean; isTeam: boolean }>()
  const members = new Set<string>()
  const formerNames = new Set<string>()
  const contributors = new Set<string>()
  const categories = new Map<string, { seq: number; isChild: boolean }>()
  const ids = new Map<string, number>()
  let lastRevision = 0
  const slugs = new Set<string>()
  const channelNames = new Set<string>()
  const collectionIds = new Set<string>()
  const collectionSlugs = new Set<string>()
  let item: OpenItem | null = null

  const findUser = (name: string, what: string) => {
    const user = users.get(name.toLowerCase())
    return user ?? refuse(`${what} "${shorten(name)}" is no user of it`)
  }
  const findTeam = (name: string, what: string) => {
    const team = users.get(name.toLowerCase())
    return team?.isTeam ? team : refuse(`the team "${shorten(name)}", ${what}, is none of it`)
  }
  const takeSlug = (slug: string) => {
    if (slugs.has(slug)) refuse(`the slug "${slug}" is there twice`)
    slugs.add(slug)
  }
  const takeCollectionSlug = (slug: string) => {
    if (collectionSlugs.has(slug)) refuse(`the slug "${slug}" of a collection is there twice`)
    collectionSlugs.add(slug)
  }
  const takeChannelName = (name: string, { id, kind }: RecordOf<'item'>) => {
    if (kind !== 'skill') refuse(`item ${id} is no skill and has a name to install it under`)
    if (channelNames.has(name)) refuse(`two skills are installed as "${name}"`)
    if (slugs.has(retireChannelName(name))) refuse(`item ${id} is installed as "${name}", which was the name of a deleted skill`)
    channelNames.add(name)
  }
  const refuseAfterItems = (what: string) => {
    if (item) refuse(`${what} stands after an item`)
  }
  const requireItem = (what: string): OpenItem => item ?? refuse(`${what} stands before any item`)
  const endItem = () => {
    if (!item) return
    const { record, versions, isSlugKept } = item
    if (versions !== record.version) refuse(`item ${record.id} has versions up to ${versions} and should have ${record.version}`)
    if (!isSlugKept && record.slug !== record.id) refuse(`item ${record.id} does not keep its slug "${record.slug}"`)
  }

  const writers: { [Kind in HistoryRecord['record']]: (record: RecordOf<Kind>) => Promise<void> } = {
    async category({ slug, name, parent, position }) {
      refuseAfterItems(`category "${slug}"`)
      if (categories.has(slug)) refuse(`the category "${slug}" is there twice`)
      const above =
        parent === null ? null : (categories.get(parent) ?? refuse(`the category "${slug}" stands below "${parent}", which is none`))
      if (above?.isChild) refuse(`the category "${slug}" stands below "${parent}", which is not of the first level`)
      const seq = ++numbers.category
      categories.set(slug, { seq, isChild: above !== null })
      rows.add('category', { seq, slug, name, parent_seq: above?.seq ?? null, position })
    },
    async user({ username, contributor, displayName, bio, website, language = null, createdAt, team }) {
      refuseAfterItems(`user "${username}"`)
      const key = username.toLowerCase()
      if (users.has(key)) refuse(`the user "${username}" is there twice`)
      if (contributor !== null && contributors.has(contributor)) refuse(`two users stand for the contributor "${shorten(contributor)}"`)
      if (contributor !== null && team) refuse(`the team "${username}" stands for a contributor`)
      if (formerNames.has(key)) refuse(`"${username}" is also a former name of a team`)
      if (contributor !== null) contributors.add(contributor)
      const seq = ++numbers.user
      const id = random.id()
      users.set(key, { seq, id, isPlaceholder: contributor !== null, isTeam: team !== undefined })
      rows.add('user', {
        seq,
        id,
        username,
        username_key: key,
        contributor_key: contributor,
        default_visibility: team?.newItems ?? 'private',
        created_at: createdAt,
        display_name: displayName,
        bio,
        website,
        language,
        is_team: team ? 1 : 0,
        suspended_at: team?.deletedAt ?? null,
      })
    },
    async teamMember({ team, user, teamRole, joinedAt }) {
      refuseAfterItems(`the member "${shorten(user)}"`)
      const of = findTeam(team, `with the member "${shorten(user)}"`)
      const member = findUser(user, `the member of team "${team}",`)
      if (member.isTeam || member.isPlaceholder) refuse(`"${user}" is in the team "${team}" and cannot act`)
      const pair = `${of.seq} ${member.seq}`
      if (members.has(pair)) refuse(`"${user}" is in the team "${team}" twice`)
      members.add(pair)
      rows.add('team_member', { team_seq: of.seq, user_seq: member.seq, role: teamRole, joined_at: joinedAt })
    },
    async formerName({ name, team }) {
      refuseAfterItems(`the former name "${name}"`)
      const key = name.toLowerCase()
      const of = findTeam(team, `with the former name "${name}"`)
      if (users.has(key) || formerNames.has(key)) refuse(`the former name "${name}" is taken`)
      formerNames.add(key)
      rows.add('former_name', { username_key: key, user_seq: of.seq })
    },
    async retiredSlug({ slug }) {
      refuseAfterItems(`the retired slug "${slug}"`)
      takeSlug(slug)
      rows.add('retired_slug', { slug })
    },
    async item(record) {
      endItem()
      if (ids.has(record.id)) refuse(`item ${record.id} is there twice`)
      if (record.slug !== record.id && slugs.has(record.slug)) refuse(`the slug "${record.slug}" is there twice`)
      const owner = findUser(record.owner, 'the owner')
      if (owner.isPlaceholder) refuse(`the owner "${record.owner}" stands for a contributor and cannot own any`)
      if (record.heldAt !== null && audienceOf(record.visibility) !== 'owner')
        refuse(`item ${record.id} is held and ${record.visibility} at once`)
      if (record.heldAt === null && record.heldFrom !== null)
        refuse(`item ${record.id} is not held, but would be published by lifting that`)
      if (!record.wasPublic && (record.visibility === 'public' || record.heldAt !== null))
        refuse(`item ${record.id} is public and never was`)
      if ((record.importedVersion ?? 0) > record.version) refuse(`item ${record.id} was imported as a version it does not have`)
      checkState(record.kind, record, `item ${record.id}`)
      const category = record.category === null ? null : categories.get(record.category)
      if (category === undefined) refuse(`item ${record.id} is in the category "${record.category}", which is none`)
      if (record.channelName !== undefined) takeChannelName(record.channelName, record)
      const seq = ++numbers.item
      ids.set(record.id, seq)
      item = { record, seq, versions: 0, isSlugKept: false, voters: new Set(), keepers: new Set() }
      await writeBlobs(record.files ?? [])
      rows.add('item', {
        seq,
        id: record.id,
        kind: record.kind,
        slug: record.slug,
        title: record.title,
        description: record.description,
        type: record.type ?? null,
        content: record.content ?? '',
        variables: JSON.stringify(record.content === undefined ? [] : parseVariables(record.content).variables),
        owner_seq: owner.seq,
        author_seq: findUser(record.author, 'the author').seq,
        contributors: JSON.stringify(record.contributors),
        category_seq: category?.seq ?? null,
        visibility: record.visibility,
        was_public: record.wasPublic ? 1 : 0,
        votes: 0,
        version: record.version,
        imported_version: record.importedVersion,
        created_at: record.createdAt,
        updated_at: record.updatedAt,
        deleted_at: record.deletedAt,
        skill_name: await readSkillName(record.files ?? []),
        channel_name: record.channelName ?? null,
        featured_at: record.featuredAt,
        held_at: record.heldAt,
        held_from: record.heldFrom,
      })
      if (record.source !== undefined) rows.add('item_source', { item_seq: seq, source_id: record.source })
      for (const [position, tag] of toTags(record.tags).entries()) rows.add('item_tag', { item_seq: seq, ...tag, position })
      for (const file of record.files ?? []) rows.add('skill_file', { item_seq: seq, ...file, mode: file.mode ?? null })
    },
    async slug({ slug }) {
      const open = requireItem(`the slug "${slug}"`)
      takeSlug(slug)
      open.isSlugKept ||= slug === open.record.slug
      rows.add('slug', { slug, item_seq: open.seq })
    },
    async version(record) {
      const open = requireItem(`version ${record.number}`)
      const what = `version ${record.number} of item ${open.record.id}`
      if (record.number <= open.versions) refuse(`${what} comes after version ${open.versions}`)
      if (record.number > open.versions + 1) {
        // Missing numbers are of purged versions.
        rows.add('purge', {
          item_id: open.record.id,
          first_version: open.versions + 1,
          last_version: record.number - 1,
          file_key: null,
          made_at: record.createdAt,
        })
      }
      open.versions = record.number
      const state = completeState(open.record, record, what)
      checkState(open.record.kind, state, what)
      await writeBlobs(state.files ?? [])
      const seq = ++numbers.version
      rows.add('version', {
        seq,
        item_seq: open.seq,
        number: record.number,
        title: state.title,
        description: state.description,
        type: state.type ?? null,
        content: state.content ?? '',
        category: state.category,
        tags: JSON.stringify(state.tags),
        visibility: state.visibility,
        note: record.note,
        author_seq: findUser(record.author, `the author of ${what},`).seq,
        created_at: record.createdAt,
      })
      for (const file of state.files ?? []) rows.add('version_file', { version_seq: seq, ...file, mode: file.mode ?? null })
    },
    async vote({ user, createdAt }) {
      const open = requireItem('a vote')
      const { seq } = findUser(user, `who voted for item ${open.record.id},`)
      if (open.voters.has(seq)) refuse(`"${user}" voted twice for item ${open.record.id}`)
      open.voters.add(seq)
      rows.add('vote', { item_seq: open.seq, user_seq: seq, created_at: createdAt })
    },
    async favourite({ user, createdAt }) {
      const open = requireItem('a favourite')
      const { seq } = findUser(user, `who has item ${open.record.id} as a favourite,`)
      if (open.keepers.has(seq)) refuse(`"${user}" has item ${open.record.id} as a favourite twice`)
      open.keepers.add(seq)
      rows.add('favourite', { item_seq: open.seq, user_seq: seq, created_at: createdAt })
    },
    async collection(record) {
      const what = `collection ${record.id}`
      const owner = findUser(record.owner, `the owner of ${what},`)
      if (owner.isPlaceholder) refuse(`the owner "${record.owner}" stands for a contributor and cannot own any`)
      if (collectionIds.has(record.id)) refuse(`${what} is there twice`)
      collectionIds.add(record.id)
      if (!record.wasPublic && record.visibility === 'public') refuse(`${what} is public and never was`)
      if (record.slug !== record.id && !record.slugs.includes(record.slug)) refuse(`${what} does not keep its slug "${record.slug}"`)
      const seq = ++numbers.collection
      rows.add('collection', {
        seq,
        id: record.id,
        slug: record.slug,
        owner_seq: owner.seq,
        title: record.title,
        title_key: foldTitle(record.title),
        description: record.description,
        visibility: record.visibility,
        was_public: record.wasPublic ? 1 : 0,
        version: record.version,
        created_at: record.createdAt,
        updated_at: record.updatedAt,
      })
      for (const slug of record.slugs) {
        takeCollectionSlug(slug)
        rows.add('collection_slug', { slug, collection_seq: seq })
      }
      const seqs = record.items.map((id) => ids.get(id) ?? refuse(`${what} has item ${id}, which is none`))
      if (new Set(seqs).size !== seqs.length) refuse(`${what} has an item twice`)
      for (const [index, item_seq] of seqs.entries()) {
        rows.add('collection_item', { collection_seq: seq, item_seq, position: placeAt(index) })
      }
    },
    async retiredCollectionSlug({ slug }) {
      takeCollectionSlug(slug)
      rows.add('collection_slug', { slug, collection_seq: null })
    },
    async change({ record: _, item: id, tags, actor, ...change }) {
      const of = ids.get(id) ?? refuse(`a change names item ${id}, which is none`)
      if (change.revision < lastRevision) refuse(`the changes of item ${id} are not in order`)
      lastRevision = change.revision
      rows.add('shared_change', {
        seq: ++numbers.shared_change,
        item_seq: of,
        ...change,
        tags: tags === undefined ? null : JSON.stringify(tags),
        actor_id: actor === undefined ? null : actor === null ? GONE : findUser(actor, `who made a change of item ${id},`).id,
      })
    },
  }

  /** Writes missing contents, and checks the size of every file. */
  const writeBlobs = async (files: readonly FileEntry[]) => {
    const missing = new Map(files.map((file) => [file.sha256, file]))
    for (const { sha256, size } of [...(await rows.findBlobs([...missing.keys()]))]) {
      if (files.some((file) => file.sha256 === sha256 && file.size !== size)) refuse(`the file ${sha256} has not the size it should have`)
      missing.delete(sha256)
    }
    for (const { sha256, size } of missing.values()) {
      const bytes = await source.readBlob(sha256)
      if (files.some((file) => file.sha256 === sha256 && file.size !== bytes.length) || bytes.length !== size) {
        refuse(`the file ${sha256} has not the size it should have`)
      }
      rows.addBlob(sha256, bytes)
    }
  }
  const readSkillName = async (files: readonly FileEntry[]): Promise<string | null> => {
    const entry = files.find((file) => file.filename === SKILL_MD)
    return entry ? (readNamedFrontmatter(decodeText(await source.readBlob(entry.sha256)) ?? '')?.name ?? null) : null
  }
  const dispatch = <Kind extends HistoryRecord['record']>(record: RecordOf<Kind> & { readonly record: Kind }) =>
    writers[record.record](record)

  return async (record: HistoryRecord | null): Promise<void> => {
    if (!record) return endItem()
    await dispatch(record)
    await rows.flushWhenFull()
  }
}
