import { type EmbedConfig, MAX_EMBED_PROMPT } from '../../domain/embed/config.ts'
import { SKILL_MD } from '../../domain/skills/skill.ts'
import { cutCharacters, isLongerThan } from '../../domain/text/characters.ts'
import { parseVariables } from '../../domain/variables/variables.ts'
import { toAppError } from '../../errors.ts'
import type { CallOperation } from '../../operations/core/define-operation.ts'
import type { Output } from '../../operations/core/procedure.ts'
import { getPrompt, readName } from '../../operations/prompts/get-prompt.ts'
import { getSkill } from '../../operations/skills/get-skill.ts'

/** Something a prompt refers to. `source` is what an assistant finds by itself, such as the web. */
export interface ContextReference {
  readonly kind: 'file' | 'image' | 'link' | 'folder' | 'source'
  /** Without the sign before it. */
  readonly label: string
  /** Of links alone: an http or https address. */
  readonly url?: string
}

/** A tool of a server. */
interface ToolReference {
  readonly server: string
  readonly tool: string
}

/** References and tools that are shown. */
const MAX_SHOWN = 40
const IMAGE = /\.(?:png|jpe?g|gif|webp|avif|svg|bmp|heic)$/i

/** References with commas between them: `@src/app.ts`, `#sketch.png`, `https://example.org`, `docs/`, `@web`. */
export function parseContext(text: string): { shown: ContextReference[]; more: number } {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => !/^[@#]?$/.test(part))
  return { shown: parts.slice(0, MAX_SHOWN).map(toReference), more: Math.max(0, parts.length - MAX_SHOWN) }
}

function toReference(part: string): ContextReference {
  if (/^https?:\/\//i.test(part)) {
    const url = URL.parse(part)
    if (url) return { kind: 'link', label: url.host + (url.pathname === '/' ? '' : url.pathname), url: url.href }
  }
  if (part.startsWith('#')) return { kind: 'image', label: part.slice(1) }
  const label = part.startsWith('@') ? part.slice(1) : part
  if (label.endsWith('/')) return { kind: 'folder', label }
  if (IMAGE.test(label)) return { kind: 'image', label }
  return { kind: part.startsWith('@') && !/[./]/.test(label) ? 'source' : 'file', label }
}

/** Tools, one a line, as `server:tool`; what is none is left out, and counted by its line (from 1). */
export function parseTools(text: string): { shown: ToolReference[]; more: number; badLines: number[] } {
  const tools: ToolReference[] = []
  const badLines: number[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [server = '', ...rest] = line.split(':').map((part) => part.trim())
    const tool = rest.join(':')
    if (server === '' || tool === '') badLines.push(index + 1)
    else tools.push({ server, tool })
  }
  return { shown: tools.slice(0, MAX_SHOWN), more: Math.max(0, tools.length - MAX_SHOWN), badLines }
}

/** A file or folder of a tree. */
export interface TreeNode {
  readonly name: string
  /** From the root, without a slash at its end. */
  readonly path: string
  /** null for a file. */
  readonly children: readonly TreeNode[] | null
}

/** Paths that are shown, and folders in folders. */
const MAX_PATHS = 200
const MAX_DEPTH = 12

interface Growing {
  readonly folders: Map<string, Growing>
  readonly files: Set<string>
}

/** A tree of paths, one a line; folders stand first, each kind by name. A path that ends with a slash is a folder, even an empty one. */
export function parsePathTree(text: string): { nodes: TreeNode[]; more: number } {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const root: Growing = { folders: new Map(), files: new Set() }
  for (const line of lines.slice(0, MAX_PATHS)) {
    const parts = line.split('/').filter((part) => part !== '' && part !== '.')
    const deep = parts.length > MAX_DEPTH ? [...parts.slice(0, MAX_DEPTH - 1), parts.slice(MAX_DEPTH - 1).join('/')] : parts
    const file = line.endsWith('/') ? undefined : deep.pop()
    let folder = root
    for (const part of deep) {
      const inner = folder.folders.get(part) ?? { folders: new Map(), files: new Set() }
      folder.folders.set(part, inner)
      folder = inner
    }
    if (file !== undefined) folder.files.add(file)
  }
  return { nodes: toNodes(root, ''), more: Math.max(0, lines.length - MAX_PATHS) }
}

function toNodes({ folders, files }: Growing, path: string): TreeNode[] {
  return [
    ...[...folders].toSorted(([a], [b]) => compareNames(a, b)).map(([name, inner]) => toFolder(name, path + name, inner)),
    // A name that is a folder too was given both ways; the folder says more.
    ...[...files]
      .filter((name) => !folders.has(name))
      .toSorted(compareNames)
      .map((name) => ({ name, path: path + name, children: null })),
  ]
}

function toFolder(name: string, path: string, inner: Growing): TreeNode {
  return { name, path, children: toNodes(inner, `${path}/`) }
}

/** Without regard to case, and the same on every machine. */
function compareNames(a: string, b: string): number {
  const [one, two] = [a.toLowerCase(), b.toLowerCase()]
  if (one === two) return a < b ? -1 : 1
  return one < two ? -1 : 1
}

/** A piece of a prompt as an embed marks it; the texts of all together are the prompt. */
export type PromptPiece =
  | { readonly kind: 'text' | 'mention'; readonly text: string }
  /** A blank. `given`: its default; null for one that must be filled in. */
  | { readonly kind: 'variable'; readonly text: string; readonly name: string; readonly given: string | null }

/** `@name`, `@path/to/file.ts`, `@folder/`; not part of an email address, nor a decorator's `@@`. */
const MENTION = /(?<![\p{L}\p{N}_@./+-])@[\p{L}_][\p{L}\p{N}_./:-]*/gu

/** Splits a prompt into text, variables and `@mentions` in one linear scan. */
export function parsePromptPieces(text: string): PromptPiece[] {
  const { segments, variables } = parseVariables(text)
  const defaults = new Map(variables.map((variable) => [variable.name, variable.default ?? null]))
  return segments.flatMap((segment): PromptPiece[] => {
    if (segment.kind !== 'variable') return findMentions(segment.raw)
    const { raw, name } = segment
    return [{ kind: 'variable', text: raw, name, given: defaults.get(name) ?? null }]
  })
}

/** A piece as readers see it: a blank by its default, or its name. */
export function readPiece(piece: PromptPiece): string {
  return piece.kind === 'variable' ? (piece.given ?? piece.name) : piece.text
}

function findMentions(text: string): PromptPiece[] {
  const pieces: PromptPiece[] = []
  let from = 0
  for (const match of text.matchAll(MENTION)) {
    const mention = withoutStop(match[0])
    if (match.index > from) pieces.push({ kind: 'text', text: text.slice(from, match.index) })
    pieces.push({ kind: 'mention', text: mention })
    from = match.index + mention.length
  }
  if (from < text.length) pieces.push({ kind: 'text', text: text.slice(from) })
  return pieces
}

/** Without the signs that end a sentence. */
function withoutStop(mention: string): string {
  let end = mention.length
  while (end > 1 && '.:-'.includes(mention.charAt(end - 1))) end--
  return mention.slice(0, end)
}

/** A prompt or a skill of the library as an embed shows it. */
export type EmbeddedItem = ReturnType<typeof describe>

/** Longest list of files, in characters: what a configuration may hold. */
const MAX_FILES_TEXT = 9_000

/**
 * Finds a prompt or skill visible to everyone, by id, or by slug if it is public; with `@label` or `@version` behind it, that version.
 * @throws AppError `not_found`, the same for what is private, deleted or was never there
 */
export async function findEmbeddedItem(call: CallOperation, ref: string): Promise<EmbeddedItem> {
  const { ref: named, ...asked } = readName(ref)
  const prompt = await call(getPrompt, { id: named, ...asked }).catch(nullWhenMissing)
  if (prompt) return describe('prompt', prompt, prompt.content, prompt.variables.length, {})
  const skill = await call(getSkill, { id: named, ...asked })
  const text = skill.files.find(({ filename }) => filename === SKILL_MD)?.content ?? ''
  const names = skill.files.map(({ filename }) => filename).join('\n')
  return describe('skill', skill, text, skill.files.length, {
    filetree: names.length > MAX_FILES_TEXT ? names.slice(0, names.lastIndexOf('\n', MAX_FILES_TEXT)) : names,
    showFiletree: true,
    diffFilename: SKILL_MD,
  })
}

type Found = Output<typeof getPrompt> | Output<typeof getSkill>

function describe(kind: 'prompt' | 'skill', found: Found, text: string, parts: number, around: EmbedConfig) {
  const { id, title, author, url, description, visibility, category } = found
  return {
    kind,
    id,
    description,
    /** Of skills that are public and of prompts alone: what a search engine may find. */
    isPublic: visibility === 'public',
    category,
    /** Different variables of a prompt; files of a skill. */
    parts,
    source: { title, author, url, isCut: isLongerThan(text, MAX_EMBED_PROMPT) },
    /** The fields of the item; an address can add others. */
    config: { prompt: cutCharacters(text, MAX_EMBED_PROMPT), ...around },
  }
}

/** null for an error that says that something is not there; others are thrown again. */
export function nullWhenMissing(thrown: unknown): null {
  if (toAppError(thrown).code === 'not_found') return null
  throw thrown
}
