import { AppError } from '../../errors.ts'
import { countCharacters } from '../text/characters.ts'
import { type PartRef, parseVariables, toPresentSyntax } from '../variables/variables.ts'
import type { PromptBody } from './body.ts'

/** How deep parts may include parts. */
const MAX_PART_DEPTH = 5
/** Parts that one prompt takes in, those of its parts among them. */
export const MAX_PARTS = 50
/** Characters of a text with its parts. */
const MAX_COMPOSED = 100_000

/** A prompt as a part of another: what tells it from others, its text in the present syntax, and what its own parts are relative to. */
export interface LoadedPart<Place> {
  readonly key: string
  readonly content: string
  readonly place: Place
}

interface Node {
  readonly pieces: readonly (string | Node)[]
  readonly characters: number
  readonly parts: number
  readonly height: number
}

/** The parts that a body names, each once. */
export function partsOf({ content, messages, syntax }: PromptBody): PartRef[] {
  const texts = messages ? messages.flatMap((one) => ('role' in one ? [one.content] : [])) : [content]
  const found = texts.flatMap((text) => parseVariables(text, syntax).segments.flatMap((one) => (one.kind === 'part' ? [one] : [])))
  return [...new Map(found.map(({ ref, at }) => [`${ref}@${at ?? ''}`, { ref, at }])).values()]
}

/**
 * A body with its parts put in, in the present syntax. Its size is known before anything is built.
 * @param key tells the prompt from its parts
 * @param load finds a part that is named at a place, as the reader may see it
 * @throws AppError `invalid_input` for parts in a circle, or nested too deep; `too_large` for too many or too long ones; and what `load` throws
 */
export async function composeBody<Place>(
  body: PromptBody,
  { key, place }: { readonly key: string; readonly place: Place },
  load: (ref: PartRef, place: Place) => Promise<LoadedPart<Place>>,
): Promise<PromptBody> {
  const known = new Map<string, Node>()
  const path = new Set([key])
  const read = async (text: string, at: Place): Promise<Node> => {
    const pieces: (string | Node)[] = []
    for (const segment of parseVariables(text).segments) pieces.push(segment.kind === 'part' ? await include(segment, at) : segment.raw)
    const nodes = pieces.filter((piece) => typeof piece !== 'string')
    const node = {
      pieces,
      characters: pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? countCharacters(piece) : piece.characters), 0),
      parts: nodes.reduce((sum, one) => sum + 1 + one.parts, 0),
      height: nodes.reduce((height, one) => Math.max(height, one.height + 1), 0),
    }
    if (node.parts > MAX_PARTS) throw new AppError('too_large', `This prompt takes in more than ${MAX_PARTS} parts.`)
    if (nodes.length > 0 && node.characters > MAX_COMPOSED)
      throw new AppError('too_large', `With its parts, this prompt has ${node.characters} characters; the limit is ${MAX_COMPOSED}.`)
    return node
  }
  const include = async (ref: PartRef, at: Place): Promise<Node> => {
    const part = await load(ref, at)
    if (path.has(part.key)) throw new AppError('invalid_input', `The parts of this prompt go round in a circle, by "${ref.ref}".`)
    const before = known.get(part.key)
    if (path.size + (before?.height ?? 0) > MAX_PART_DEPTH)
      throw new AppError('invalid_input', `The parts of this prompt are nested more than ${MAX_PART_DEPTH} deep.`)
    if (before) return before
    path.add(part.key)
    const node = await read(part.content, part.place)
    path.delete(part.key)
    known.set(part.key, node)
    return node
  }
  const compose = async (text: string) => build(await read(body.syntax === 1 ? toPresentSyntax(text) : text, place))
  if (!body.messages) return { ...body, content: await compose(body.content), syntax: 2 }
  const messages = []
  for (const one of body.messages) messages.push('role' in one ? { ...one, content: await compose(one.content) } : one)
  return { ...body, messages, syntax: 2 }
}

function build({ pieces }: Node): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : build(piece))).join('')
}
