import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { stemmer } from 'stemmer'
import { loadWordVectors } from '../src/ai/word-vectors-file.ts'
import { ANALYSIS, encodePostings, indexText } from '../src/search/analysis/indexed-text.ts'
import { createEmbedder } from '../src/search/vectors/embedder.ts'
import { recombineVectors } from './encoded-library.ts'
import { LIBRARY_SEED } from './library-files.ts'
import { recombinePrompts, seededRandom } from './recombined-prompts.ts'

const NOISE_SEED = 20_261_124
/** One in this many is private. */
const PRIVATE_SHARE = 20
/** When the first derived prompt was created; each next one a second later. */
const FIRST_AT = Date.UTC(2025, 0, 1)

/**
 * Makes a library of `count` prompts out of a smaller one whose prompts have vectors: rows are inserted straight into the tables, with words as
 * saves write them, in minutes for a million. Every twentieth derived prompt is private.
 * @param small path of the smaller library, not in use
 */
export async function deriveLibrary(small: string, path: string, promptsFile: string, count: number): Promise<void> {
  if (existsSync(path)) return
  const unfinished = `${path}.unfinished`
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${unfinished}${suffix}`, { force: true })
  copyFileSync(small, unfinished)
  const db = new DatabaseSync(unfinished)
  try {
    db.exec(
      'pragma journal_mode = delete; pragma journal_mode = off; pragma synchronous = off; pragma foreign_keys = off; pragma cache_size = -400000',
    )
    db.exec('begin')
    await insertPrompts(db, promptsFile, count)
    db.exec('commit')
    db.exec('pragma journal_mode = wal')
  } finally {
    db.close()
  }
  renameSync(unfinished, path)
}

async function insertPrompts(db: DatabaseSync, promptsFile: string, count: number): Promise<void> {
  const number = (query: string) => Number(Object.values(db.prepare(query).get() ?? {})[0] ?? 0)
  const embedder = createEmbedder(loadWordVectors())
  const random = seededRandom(NOISE_SEED)
  const numbers = new Map<string, number>()
  for (const { word, seq } of db.prepare('select word, seq from word').all()) numbers.set(String(word), Number(seq))
  const byTitle = new Map<string, Int8Array>()
  let model = ''
  for (const row of db.prepare('select title, model, vector from item_vector join item on item.seq = item_seq').all()) {
    if (!(row['vector'] instanceof Uint8Array)) continue
    model = String(row['model'])
    byTitle.set(String(row['title']), new Int8Array(row['vector']))
  }
  const owner = number("select seq from user where username = 'bench'")
  const missing = count - number('select count(*) from item')
  let seq = number('select max(seq) from item')
  let change = number('select max(seq) from change')
  const addItem = db.prepare(
    `insert into item (seq, id, kind, slug, title, type, content, variables, owner_seq, author_seq, contributors, visibility, was_public, version,
     created_at, updated_at) values (?, ?, 'prompt', ?, ?, ?, ?, '[]', ?, ?, '[]', ?, ?, 1, ?, ?)`,
  )
  const addVersion = db.prepare(
    `insert into version (item_seq, number, title, type, content, tags, visibility, author_seq, created_at) values (?, 1, ?, ?, ?, '[]', ?, ?, ?)`,
  )
  const addSlug = db.prepare('insert into slug (slug, item_seq) values (?, ?)')
  const addWord = db.prepare('insert into word (word, stem) values (?, ?)')
  const addWords = db.prepare(
    'insert into item_words (item_seq, analysis, title_length, body_length, words, vector) values (?, ?, ?, ?, ?, ?)',
  )
  const addChange = db.prepare(
    `insert into change (item_seq, kind, audience_after, at, batch, version, path, tags) values (?, 'prompt', ?, ?, ?, 1, ?, '[]')`,
  )
  const addVector = db.prepare("insert into item_vector (item_seq, model, digest, vector) values (?, ?, '', ?)")
  for await (const { title, content, type, sources } of recombinePrompts(promptsFile, Math.max(0, missing), LIBRARY_SEED)) {
    seq++
    const isPrivate = seq % PRIVATE_SHARE === 0
    const visibility = isPrivate ? 'private' : 'public'
    const at = new Date(FIRST_AT + seq * 1000).toISOString()
    const slug = `derived-${seq}`
    const id = `${seq.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
    addItem.run(seq, id, slug, title, type, content, owner, owner, visibility, Number(!isPrivate), at, at)
    addVersion.run(seq, title, type, content, visibility, owner, at)
    addSlug.run(slug, seq)
    addChange.run(seq, visibility, at, ++change, `prompts/uncategorised/${slug}.md`)
    const indexed = indexText({ title, description: '', tags: '', content })
    const postings = Array.from(indexed.words, ([word, code]) => {
      const known = numbers.get(word) ?? Number(addWord.run(word, stemmer(word)).lastInsertRowid)
      numbers.set(word, known)
      return { word: known, code }
    })
    const vector = embedder.embedItem(indexed)
    const { titleLength, bodyLength } = indexed
    addWords.run(seq, ANALYSIS, titleLength, bodyLength, encodePostings(postings), vector && new Uint8Array(vector.buffer))
    const own = sources.flatMap((source) => byTitle.get(source) ?? [])
    if (own.length > 0) addVector.run(seq, model, new Uint8Array(recombineVectors(own, random).buffer))
  }
}
