import type { AccountStore, LoginRecords, PeopleStore } from './account-ports.ts'
import type { Actor } from './actor.ts'
import type { AuditStore } from './audit.ts'
import type { EmbedConfig } from './embed/config.ts'
import type { Hold, TransferStore } from './export-ports.ts'
import type { PromptType } from './fields.ts'
import type { CounterStore, Instances } from './instances.ts'
import type {
  Category,
  FullVersion,
  ItemKind,
  Prompt,
  PromptEntry,
  PromptFields,
  Skill,
  SkillFields,
  SkillManifest,
  Version,
} from './items.ts'
import type { PurgeStore } from './purges.ts'
import type { SearchResult } from './search-result.ts'
import type { FigureStore } from './service.ts'
import type { SkillFile } from './skill.ts'
import type { Visibility } from './visibility.ts'

/** The time, as milliseconds since 1970 (UTC). */
export type Clock = () => number

/** Randomness, passed in so that tests can fix it. */
export interface Random {
  /** A new id: a random UUID. */
  id(): string
  /** `length` random characters of `a-z 0-9`. */
  letters(length: number): string
  /** From 0 to less than 1. */
  fraction(): number
}

/**
 * Narrows a list. Values of one field are alternatives, except `allTags`, which must all be there; fields combine.
 * Categories and tags are given by slug or name, authors by username, each in any case. Unknown values match nothing.
 */
export interface ItemFilter {
  readonly ids?: readonly string[] | undefined
  readonly type?: string | undefined
  /** Each includes its children. */
  readonly categories?: readonly string[] | undefined
  /** One is enough. */
  readonly anyTags?: readonly string[] | undefined
  /** All must be there. */
  readonly allTags?: readonly string[] | undefined
  /** Usernames of authors. */
  readonly authors?: readonly string[] | undefined
}

type SortOrder = 'relevance' | 'newest' | 'oldest' | 'votes'

/** What somebody typed, as words in order. */
export interface QueryWords {
  /** Runs of an unspaced script as their pairs of neighbours; one character alone stays. */
  readonly words: readonly string[]
  /** Whether the text ends in the last word: it may still be growing. */
  readonly isLastGrowing: boolean
}

export interface SearchRequest {
  /** null: nothing to match, list by `sort`. */
  readonly query: QueryWords | null
  /** The query as it was typed: what a provider of embeddings is asked for, where there is one. */
  readonly text?: string | undefined
  /** What a provider says the text means; null or absent: the built-in embedder alone says. */
  readonly vector?: Float32Array | null | undefined
  readonly filter: ItemFilter
  readonly sort: SortOrder
  readonly limit: number
  readonly offset: number
}

/** What a search by text found. */
export interface TextSearchResult<T> extends SearchResult<T> {
  /** What words of the query that are not in the library were taken for, by the word as it was read. */
  readonly corrections: ReadonlyMap<string, string>
}

/** A place in the newest-first walk: the last entry a page gave. */
export interface WalkPosition {
  readonly createdAt: string
  readonly order: number
}

/** As many entries as there are, up to the limit that was asked for. */
export interface WalkPage {
  readonly limit: number
  readonly entries: readonly (PromptEntry & { readonly position: WalkPosition })[]
}

/** Who writes, and what they say about it. */
export interface Editor {
  readonly userId: string
  readonly note: string | null
  /** The version that is written again. */
  readonly restores?: number
}

/** What an import knows of an item beside its fields. Absent for items saved here. */
export interface ImportOrigin {
  readonly authorId: string
  readonly contributors: readonly string[]
  /** Kept when free: an exported library comes back under its own addresses. */
  readonly id?: string | undefined
  readonly slug?: string | undefined
  readonly createdAt?: string | undefined
  readonly updatedAt?: string | undefined
  /** Kept for a new item: whoever was kept out of the lists there is kept out of them here. */
  readonly held?: Hold | undefined
}

/** Fields to change, and a new slug; what is absent or undefined stays. */
type Change<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined } & { readonly slug?: string | undefined }
export type PromptChange = Change<PromptFields>
/** `files` may be given as what becomes of those there are, which are then read; they are not read for any other change. */
export type SkillChange = Change<Omit<SkillFields, 'files'>> & {
  readonly files?: readonly SkillFile[] | ((files: readonly SkillFile[]) => readonly SkillFile[]) | undefined
}

/** An item as an import finds it again: by owner, author and title. */
export interface ImportedTwin<T> {
  readonly item: T
  /** Whether it was edited here after the last import wrote it, or was never imported at all. */
  readonly isEditedHere: boolean
}

/** Reads. Those that can meet private data take the actor and pass through the visibility rule. `ref` is an id or a slug. */
export interface LibraryReader {
  findPrompt(actor: Actor, ref: string): Promise<Prompt | null>
  findSkill(actor: Actor, ref: string): Promise<Skill | null>
  searchPrompts(actor: Actor, request: SearchRequest): Promise<TextSearchResult<Prompt>>
  searchSkills(actor: Actor, request: SearchRequest): Promise<TextSearchResult<Skill>>
  findSimilarPrompts: FindSimilar
  /** Newest first, after `after`; stable while items are added. Texts are not read. */
  walkPrompts(actor: Actor, filter: ItemFilter, after: WalkPosition | null, limit: number): Promise<WalkPage>
  countPrompts(actor: Actor, filter: ItemFilter): Promise<number>
  /** All files of a skill the actor may see (checked again here), SKILL.md first; empty when it may not. */
  readSkillFiles(actor: Actor, skillId: string): Promise<SkillFile[]>
  readSkillFile(actor: Actor, skillId: string, filename: string): Promise<SkillFile | null>
  /** Skills that have a proper name, newest first, after `after`. */
  walkSkills(
    actor: Actor,
    after: WalkPosition | null,
    limit: number,
  ): Promise<(SkillManifest & { readonly id: string; readonly position: WalkPosition })[]>
  /** The skill that stands at `path` below an owner (in any case), when the actor may see it by its address. */
  findSkillAt(actor: Actor, owner: string, path: string): Promise<(SkillManifest & { readonly id: string }) | null>
  /** Versions of an item the actor sees, newest first, with numbers below `before`: all for the owner, those written while public for others. */
  listVersions(actor: Actor, itemId: string, page: { before: number | null; limit: number }): Promise<Version[]>
  findVersion(actor: Actor, itemId: string, version: number): Promise<FullVersion | null>
  /** Categories with the number of items of either kind the actor sees in them, children not counted in. */
  listCategories(actor: Actor): Promise<(Category & { readonly prompts: number; readonly skills: number })[]>
  listTags(actor: Actor, page: { limit: number; offset: number }): Promise<SearchResult<{ slug: string; name: string; count: number }>>
  listTrash(
    ownerId: string,
    page: { limit: number; offset: number },
  ): Promise<SearchResult<{ id: string; kind: ItemKind; title: string; deletedAt: string }>>
}

/**
 * Writes. Each is one transaction, durable when its promise resolves, and writes a version where it changes what a version holds: what changes nothing writes nothing.
 * `decide` runs inside the transaction on the current state; what it throws undoes everything and reaches the caller.
 */
export interface LibraryWriter {
  createPrompt(owner: Editor, fields: PromptFields, origin?: ImportOrigin): Promise<Prompt>
  createSkill(owner: Editor, fields: SkillFields, origin?: ImportOrigin): Promise<Skill>
  /** Finds by id, or by slug among all items; null when there is none or it is in the trash. `decide` answers for who may. Null from `decide`: leave it. */
  changePrompt(ref: string, editor: Editor, decide: (current: Prompt) => PromptChange | null, origin?: ImportOrigin): Promise<Prompt | null>
  changeSkill(ref: string, editor: Editor, decide: (current: Skill) => SkillChange | null, origin?: ImportOrigin): Promise<Skill | null>
  /** Moves to the trash (`deleted` true) or back; only items of this owner; null when there is none in the other state. */
  setDeleted(kind: ItemKind, ref: string, ownerId: string, deleted: boolean): Promise<{ id: string; slug: string; title: string } | null>
  /** Records or withdraws a vote on an item the actor may see; the count is that of the votes there are. Null when it may not. */
  setVote(actor: Actor, kind: ItemKind, ref: string, userId: string, voted: boolean): Promise<{ id: string; votes: number } | null>
  /** What imports find again, oldest first, the trash included. */
  findImported(kind: 'prompt', ownerId: string, authorId: string, title: string): Promise<ImportedTwin<Prompt>[]>
  findImported(kind: 'skill', ownerId: string, authorId: string, title: string): Promise<ImportedTwin<Skill>[]>
  /**
   * Several writes as one transaction. Nothing but store calls may be awaited inside.
   * A write that is refused with an AppError has written nothing, so the others may go on; any other error must end the transaction.
   */
  inTransaction<T>(work: (store: LibraryStore) => Promise<T>): Promise<T>
}

/** How an item stands, for a reader who is signed in. */
interface ItemMarks {
  readonly id: string
  /** The owner's username. */
  readonly owner: string
  readonly isOwner: boolean
  readonly hasVoted: boolean
  /** Number of the newest version. */
  readonly version: number
  readonly isFeatured: boolean
  /** Whether an administrator keeps it out of the lists. */
  readonly isHeld: boolean
}

/** What is kept beside items: what administrators say of them, and whose they are. */
export interface MarkStore {
  /** Null for what the actor may not see. */
  findMarks(actor: Actor, kind: ItemKind, ref: string): Promise<ItemMarks | null>
  /** Puts a public item on the first page, or takes it off. False when the public sees no such item. */
  setFeatured(kind: ItemKind, id: string, isFeatured: boolean): Promise<boolean>
  /** Takes a public item out of the lists, or lifts that, which makes it public again unless its owner chose another visibility meanwhile. False when there is nothing to do it to. */
  setHeld(kind: ItemKind, id: string, isHeld: boolean): Promise<boolean>
  /** Public items on the first page, the last one put there first. */
  listFeatured(limit: number): Promise<(Prompt | Skill)[]>
  /** What administrators keep out of the lists, the newest first. */
  listHeld(page: { limit: number; offset: number }): Promise<SearchResult<Prompt | Skill>>
  /** A user's own items of one kind, the last changed first. */
  listOwned(
    ownerId: string,
    page: { kind: ItemKind; visibility: Visibility | null; limit: number; offset: number },
  ): Promise<SearchResult<Prompt | Skill>>
  /** @throws AppError `conflict` when the slug is taken, `invalid_input` for a parent that is none */
  createCategory(category: Category): Promise<void>
  /** False when there is none. */
  renameCategory(slug: string, name: string): Promise<boolean>
  /** False when there is none. @throws AppError `conflict` while items or categories are in it */
  deleteCategory(slug: string): Promise<boolean>
}

/** How many sessions are kept, and for how long they may lie idle. */
export interface SessionLimits {
  readonly idleMs: number
  readonly perQuota: number
  readonly total: number
}

/** A client's session as a plain record: all that another instance needs to take it up. Its id is a secret, so only the hash is kept. */
export interface SessionStore {
  /** Keeps a new session; the idle go, then the oldest of its quota and of all beyond the limits. `initialize` is the body that opened it. Gives those that went. */
  createSession(
    session: { sha256: string; owner: string; quota: string; initialize: string },
    limits: SessionLimits,
  ): Promise<{ sha256: string; holder: string | null }[]>
  /** The session, noted as used (at most once a minute); null when there is none, or it lay idle for longer than `idleMs`. */
  findSession(sha256: string, idleMs: number): Promise<{ owner: string; initialize: string; holder: string | null } | null>
  /**
   * Makes an instance the holder of the session's server, unless another than `expected` has become it meanwhile; gives who holds it now, or null
   * when there is no such session.
   */
  takeSession(sha256: string, instance: string, expected: string | null): Promise<string | null>
  /** Notes that no instance holds the session's server, when `instance` does. */
  releaseSession(sha256: string, instance: string): Promise<void>
  /** Lets go of all sessions that an instance holds. */
  releaseSessions(instance: string): Promise<void>
  /** Gives who held it; null when nobody did, or there was none. */
  deleteSession(sha256: string): Promise<string | null>
}

/** What callers may spend in a day (UTC) on improving prompts; null sets no limit. `characters` are those of the prompts sent in. */
export interface ImproveBudget {
  readonly requests: number | null
  readonly characters: number | null
}

/** What was spent on improving prompts, so that a restart does not forget it. */
export interface BudgetStore {
  /** Counts one request of a caller on a day (`2026-01-31`) when it still fits, in one step; false, and nothing counted, when it does not. Earlier days are forgotten. */
  spendImproveBudget(spend: { caller: string; day: string; characters: number }, budget: ImproveBudget): Promise<boolean>
}

/** A public prompt near a text in meaning; `similarity` is a whole number, 0 to 100. */
interface SimilarPrompt {
  readonly prompt: Prompt
  readonly similarity: number
}

/** Finds public prompts of these types, nearest to `text` in meaning first. */
export type FindSimilar = (
  text: string,
  options: { types: readonly PromptType[]; limit: number; signal?: AbortSignal | undefined; vector?: Float32Array | null | undefined },
) => Promise<SimilarPrompt[]>

/** One turn of a conversation with a model. */
export interface ModelMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** What a model is asked. */
export interface ModelRequest {
  readonly system: string
  /** User and assistant take turns, the user first and last. */
  readonly messages: readonly ModelMessage[]
  readonly maxOutputTokens: number
  /** How long an answer may still take: a wait that would pass it is not begun. `signal` is what ends it. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** A model that writes text. */
export interface LanguageModel {
  /** As results show it, such as `openai/gpt-5`. */
  readonly name: string
  /**
   * The answer, piece by piece as it comes. Ends early only by throwing.
   * @throws AppError `upstream_failed`; what `signal` was aborted with
   */
  streamText(request: ModelRequest): AsyncIterable<string>
}

/** How prompts are improved here. */
export interface Improver {
  /** null: nothing is configured, and the built-in rewriter does it. */
  readonly model: LanguageModel | null
  /** What the model is told of its task. */
  readonly systemPrompt: string
  readonly maxOutputTokens: number
  /** Longest time one call may take in all, asking again included. */
  readonly timeoutMs: number
  readonly budget: ImproveBudget
  /** Letters that nobody outside can foresee. */
  drawLetters(): string
  /** Takes a place among the calls to the model; gives how to leave it. @throws AppError `unavailable` when all are taken, or one caller holds half of them */
  enter(caller: string): () => void
}

/** A provider's model that turns texts into vectors, near each other when the texts mean much the same. */
export interface TextEmbedder {
  /** As the operator names it: vectors of different models are never compared. */
  readonly model: string
  /**
   * A vector of unit length for each text, in their order, all of equally many dimensions. `purpose` is what the texts are: some models want to be told.
   * @param options.timeoutMs how long it may take in all, trying again included
   * @throws AppError `invalid_input` when the provider refuses the texts, `upstream_failed` when it fails; what `signal` was aborted with
   */
  embed(texts: readonly string[], options: { purpose: 'query' | 'item'; timeoutMs: number; signal: AbortSignal }): Promise<Float32Array[]>
}

/** What a provider says a query means; null when it does not say so in time. Never throws. */
export type EmbedQuery = (text: string) => Promise<Float32Array | null>

/** A public item as it was when its embedding was found missing. `text` is what is to be embedded, `digest` is of it. */
export interface UnembeddedItem {
  readonly id: string
  readonly version: number
  readonly digest: string
  readonly text: string
}

/** How many public items there are, how many of them have a vector of a model, and how many have none yet. */
export interface EmbeddingCounts {
  readonly total: number
  readonly embedded: number
  readonly pending: number
}

/**
 * Vectors a provider made, of public items alone. A write that changes an item's text, or takes it out of the public's sight, takes its vectors
 * away in the same transaction; so what has no vector is all there is to do, whoever did what before.
 */
export interface EmbeddingStore {
  /**
   * Public items without a vector of this model, least recently changed first, beyond a position (0 is the beginning). Gives the position it came to;
   * no items means there are none beyond. Written items come to stand at the end. What another instance was given is left out for a while, unless
   * `takesOver`.
   */
  listUnembedded(
    model: string,
    after: number,
    limit: number,
    options?: { takesOver?: boolean },
  ): Promise<{ items: UnembeddedItem[]; position: number }>
  /** How long what was given out is kept from other instances, unless {@link renewClaims} is called meanwhile; null where there are no others. */
  readonly claimMs: number | null
  renewClaims(model: string): Promise<void>
  /** Keeps vectors of items that are still public and as they were; gives how many it kept. Vectors of the model with other dimensions go. */
  saveEmbeddings(model: string, embeddings: readonly { item: UnembeddedItem; vector: Float32Array }[]): Promise<number>
  countEmbeddings(model: string): Promise<EmbeddingCounts>
  /** Forgets the vectors of every model, or of every one but `keep`; gives how many there were. */
  forgetEmbeddings(keep: string | null): Promise<number>
}

/** A configuration of an embed that somebody keeps. */
export interface StoredEmbed {
  readonly id: string
  readonly config: EmbedConfig
  readonly createdAt: string
}

/** Embeds that people keep: read by whoever has the id, listed for and deleted by their owner alone. */
export interface EmbedStore {
  /** null when the person keeps `most` already. */
  saveEmbed(userId: string, config: EmbedConfig, most: number): Promise<StoredEmbed | null>
  findEmbed(id: string): Promise<StoredEmbed | null>
  /** The newest first. */
  listEmbeds(userId: string): Promise<StoredEmbed[]>
  /** Whether there was one of theirs. */
  deleteEmbed(userId: string, id: string): Promise<boolean>
}

/** Forms that people are still writing, each read by its owner alone. `oldest` is a time: what is older is over. */
export interface FormDraftStore {
  /** The id of the draft. Removes what is over, and all but the newest `most` of the person. */
  saveFormDraft(userId: string, body: string, limits: { readonly most: number; readonly oldest: string }): Promise<string>
  findFormDraft(userId: string, id: string, oldest: string): Promise<string | null>
}

export interface LibraryStore
  extends LibraryReader,
    LibraryWriter,
    AccountStore,
    PeopleStore,
    MarkStore,
    LoginRecords,
    SessionStore,
    Instances,
    CounterStore,
    BudgetStore,
    EmbeddingStore,
    EmbedStore,
    FormDraftStore,
    PurgeStore,
    TransferStore,
    AuditStore,
    FigureStore {
  /** Items of any kind and state, the trash included: whether the library is empty. */
  isEmpty(): Promise<boolean>
  /** How many connections to a database server are busy and idle, and how much waits for one; null for a library in a file. */
  readUsage(): { readonly busy: number; readonly idle: number; readonly waiting: number } | null
  /** Looks whether the library can be used: reads a row of it, and writes where the last write failed. @throws AppError `unavailable` */
  check(): Promise<void>
  /** Writes without changing anything. @throws AppError `unavailable` where the library cannot be written to */
  checkWrite(): Promise<void>
  /** Reads what search goes by; resolves when the first search would not wait for it. */
  loadSearch(): Promise<void>
  /** Another number whenever somebody has written to the library since it was last asked for, in this process or in another. */
  readVersion(): Promise<number>
  close(): Promise<void>
}
