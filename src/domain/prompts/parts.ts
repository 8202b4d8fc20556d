import { AppError } from '../../errors.ts'
import { countCharacters } from '../text/characters.ts'
import { doubleLastBackslashes, type PartRef, parseVariables, toPresentSyntax } from '../variables/variables.ts'
import { type Message, type PromptBody, renderMessages } from './body.ts'

/** How deep parts may include parts. */
const MAX_PART_DEPTH = 5
/** Parts that one prompt takes in, those of its parts among them. */
export const MAX_PARTS = 50
/** Characters of a text with its parts. */
const MAX_COMPOSED = 100_000

/** A prompt as a part of another: what tells it from others, its text in the present syntax, and its owner, by whom its own parts are found. */
export interface LoadedPart {
  readonly key: string
  readonly content: string
  readonly ownerId: string
}

interface Node {
  readonly pieces: readonly (string | Node)[]
  readonly characters: number
  /** Parts that it takes in, those of its parts among them. */
  readonly parts: number
  readonly height: number
}

/** The parts that a body names, each once. */
export function partsOf({ content, messages, syntax }: PromptBody): PartRef[] {
  const texts = messages ? messages.flatMap((one) => ('role' in one ? [one.content] : [])) : [content]
  const found = texts.flatMap((text) => parseVariables(text, syntax).segments.flatMap((one) => (one.kind === 'part' ? [one] : [])))
  return [...new Map(found.map(({ ref, at }) => [`${ref}@${at ?? ''}`, { ref, at }])).values()]
}

/** A body whose parts are found by other owners too: those without a label or version take the newest. */
export function pinParts(body: PromptBody): PromptBody {
  const pin = (text: string) =>
    parseVariables(text, body.syntax)
      .segments.map((segment) => (segment.kind === 'part' && segment.at === null ? `\${> ${segment.ref}@latest}` : segment.raw))
      .join('')
  if (!body.messages) return { ...body, content: pin(body.content) }
  const messages = body.messages.map((one) => ('role' in one ? { ...one, content: pin(one.content) } : one))
  return { ...body, messages, content: renderMessages(messages) }
}

/**
 * A body with its parts put in, in the present syntax. Its limits hold for all messages together, and before anything is built.
 * @param key tells the prompt from its parts
 * @param load finds a part that a prompt of an owner names, as the reader may see it
 * @throws AppError `invalid_input` for parts in a circle, or nested too deep; `too_large` for too many or too long ones; and what `load` throws
 */
export async function composeBody(
  body: PromptBody,
  { key, ownerId }: { readonly key: string; readonly ownerId: string },
  load: (ref: PartRef, ownerId: string) => Promise<LoadedPart>,
): Promise<PromptBody> {
  const known = new Map<string, Node>()
  const loaded = new Map<string, LoadedPart>()
  const path = new Set([key])
  const total = { parts: 0, characters: 0 }
  const loadOnce = async (ref: PartRef, by: string): Promise<LoadedPart> => {
    const name = JSON.stringify([ref.ref, ref.at, by])
    const part = loaded.get(name) ?? (await load(ref, by))
    loaded.set(name, part)
    return part
  }
  const count = (parts: number) => {
    total.parts += parts
    if (total.parts > MAX_PARTS) throw new AppError('too_large', `This prompt takes in more than ${MAX_PARTS} parts.`)
  }
  const include = async (ref: PartRef, by: string): Promise<Node> => {
    count(1)
    const part = await loadOnce(ref, by)
    if (path.has(part.key)) throw new AppError('invalid_input', `The parts of this prompt go round in a circle, by "${ref.ref}".`)
    const before = known.get(part.key)
    if (path.size + (before?.height ?? 0) > MAX_PART_DEPTH)
      throw new AppError('invalid_input', `The parts of this prompt are nested more than ${MAX_PART_DEPTH} deep.`)
    if (before) {
      count(before.parts)
      return before
    }
    path.add(part.key)
    const node = await read(part.content, part.ownerId)
    path.delete(part.key)
    known.set(part.key, node)
    return node
  }
  const read = async (text: string, by: string): Promise<Node> => {
    const { segments } = parseVariables(text)
    const pieces: (string | Node)[] = []
    for (const [place, segment] of segments.entries()) {
      if (segment.kind === 'part') pieces.push(await include(segment, by))
      // Backslashes before a part are written twice.
      else pieces.push(segment.kind === 'text' && segments[place + 1]?.kind === 'part' ? segment.text : segment.raw)
    }
    const nodes = pieces.filter((piece) => typeof piece !== 'string')
    const node = {
      pieces,
      characters: pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? countCharacters(piece) : piece.characters), 0),
      parts: nodes.reduce((sum, one) => sum + 1 + one.parts, 0),
      height: nodes.reduce((height, one) => Math.max(height, one.height + 1), 0),
    }
    refuseLong(node.characters, node.parts)
    return node
  }
  const compose = async (text: string): Promise<string> => {
    const node = await read(body.syntax === 1 ? toPresentSyntax(text) : text, ownerId)
    total.characters += node.characters
    refuseLong(total.characters, total.parts)
    return build(node)
  }
  if (!body.messages) return { ...body, content: await compose(body.content), syntax: 2 }
  const messages: Message[] = []
  for (const one of body.messages) messages.push('role' in one ? { ...one, content: await compose(one.content) } : one)
  return { ...body, messages, content: renderMessages(messages), syntax: 2 }
}

function refuseLong(characters: number, parts: number): void {
  if (parts > 0 && characters > MAX_COMPOSED)
    throw new AppError('too_large', `With its parts, this prompt has ${characters} characters; the limit is ${MAX_COMPOSED}.`)
}

/** A text of its pieces. A backslash at the end of a part stays one before a variable. */
function build({ pieces }: Node): string {
  let text = ''
  let isAfterPart = false
  for (const piece of pieces) {
    const isPart = typeof piece !== 'string'
    const next = isPart ? build(piece) : piece
    text = (isPart || isAfterPart) && next.startsWith('${') ? doubleLastBackslashes(text) + next : text + next
    isAfterPart = isPart
  }
  return text
}
