import { type Part, readPart } from './heading-words.ts'
import { readBlocks } from './read-blocks.ts'
import { readWords } from './read-words.ts'

/** A prompt that was found to be near the one to improve. Its text is untrusted. */
export interface Inspiration {
  readonly title: string
  readonly content: string
}

/** What the inspirations teach: which parts they have, in which order, and which of the titles known here they use. No word of theirs is in it. */
export interface Structure {
  readonly parts: ReadonlySet<Part>
  readonly order: readonly Part[]
  /** Titles of the table below that an inspiration uses instead of the usual one. */
  readonly titles: ReadonlyMap<Part, string>
}

const MAX_INSPIRATIONS = 3
const MAX_CONTENT = 4000
/** An order is learned from an inspiration with at least so many parts. */
const MIN_ORDERED_PARTS = 3

/** The titles a part can be written under; the first is used when no inspiration prefers another. */
const TITLES: Readonly<Record<Part, readonly [string, ...string[]]>> = {
  role: ['Role', 'Persona'],
  task: ['Task', 'Goal', 'Objective', 'Instructions'],
  context: ['Context', 'Background'],
  inputs: ['Input', 'Inputs'],
  steps: ['Steps', 'Process', 'Workflow', 'Approach'],
  constraints: ['Requirements', 'Rules', 'Constraints', 'Guidelines'],
  outputFormat: ['Output format', 'Format', 'Response format', 'Deliverables', 'Output'],
  examples: ['Example', 'Examples'],
  check: ['Check', 'Checklist', 'Verification'],
  subject: ['Subject'],
  genre: ['Genre'],
  setting: ['Setting', 'Scene', 'Environment'],
  shots: ['Shots', 'Storyboard', 'Sequence'],
  composition: ['Composition', 'Framing'],
  camera: ['Camera', 'Camera movement'],
  style: ['Style', 'Visual style', 'Aesthetic'],
  mood: ['Mood', 'Atmosphere'],
  tempo: ['Tempo'],
  instruments: ['Instruments', 'Instrumentation'],
  structure: ['Structure', 'Arrangement'],
  lighting: ['Lighting'],
  colour: ['Colour', 'Colour palette', 'Palette'],
  sound: ['Sound', 'Audio'],
  mix: ['Mix', 'Production'],
  aspect: ['Aspect ratio'],
  duration: ['Duration', 'Length'],
  avoid: ['Avoid', 'Negative prompt'],
}

/** Learns from the structure of the inspirations, the best of them first. Only headings of the closed vocabulary and the kinds of blocks count. */
export function readStructure(inspirations: readonly Inspiration[]): Structure {
  const parts = new Set<Part>()
  const titles = new Map<Part, string>()
  let order: Part[] = []
  for (const { content } of inspirations.slice(0, MAX_INSPIRATIONS)) {
    const own = new Set<Part>()
    for (const block of readBlocks(content.slice(0, MAX_CONTENT).replaceAll('\r', '\n'))) {
      if (block.kind === 'list' && block.isNumbered) parts.add('steps')
      if (block.kind !== 'heading' || !block.heading.part) continue
      own.add(block.heading.part)
      const title = knownTitle(block.heading.part, block.heading.title)
      if (title && !titles.has(block.heading.part)) titles.set(block.heading.part, title)
    }
    for (const part of own) parts.add(part)
    if (order.length === 0 && own.size >= MIN_ORDERED_PARTS) order = [...own]
  }
  return { parts, order, titles }
}

/** The known title a heading uses, in the spelling of the table. */
function knownTitle(part: Part, heading: string): string | undefined {
  const words = readWords(heading).trim()
  return TITLES[part].find((title) => readWords(title).trim() === words && readPart(title) === part)
}

/** The title to write a part under. @example titleOf('constraints', structure) // 'Requirements' */
export function titleOf(part: Part, structure: Structure): string {
  return structure.titles.get(part) ?? TITLES[part][0]
}

/**
 * Parts in the order of an inspiration: those it has trade places among themselves, the others stay where they are.
 * A role always comes first and a check last.
 */
export function orderLike<P extends Part>(parts: readonly P[], order: readonly Part[]): P[] {
  const movable = parts.filter((part) => part !== 'role' && part !== 'check' && order.includes(part))
  const sorted = movable.toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
  return parts.map((part) => (movable.includes(part) ? (sorted.shift() ?? part) : part))
}
