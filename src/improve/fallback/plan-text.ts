import type { FreeNames } from './blanks.ts'
import { writeBlank, writeVariable } from './blanks.ts'
import { findCautions } from './cautions.ts'
import { chooseTaskKind, writeRole } from './choose-task-kind.ts'
import { type Facet, findFacets } from './find-facets.ts'
import { findTopic } from './find-topic.ts'
import type { TextPart } from './heading-words.ts'
import type { ReadPrompt } from './read-prompt.ts'
import type { Structure } from './read-structure.ts'
import { hasPhrase, readWords, splitPhrases } from './read-words.ts'
import type { Blank, TaskKind } from './task-kind.ts'

/** What the rewriter adds to a prompt for text: the words of each part, or nothing for a part that needs none. */
export type Additions = ReadonlyMap<TextPart, string>

/** What every prompt for text must settle before it counts as complete. */
const REQUIRED = ['role', 'constraints', 'outputFormat'] as const

/** Longest prompt that may lack the material it works on; a longer one holds it somewhere. */
const MAX_WITHOUT_INPUT = 600

/** Letters a word of a label must have to tell anything. */
const MIN_TELLING_WORD = 6

/** What the additions are chosen from. `lead` is the role and task, from which the kind of task is read. */
interface Request {
  readonly prompt: ReadPrompt
  readonly lead: string
  readonly names: FreeNames
  readonly structure: Structure
}

/**
 * What a prompt for text lacks. A divided prompt that settles all that is required lacks nothing, however short it is:
 * that is what makes a second pass change nothing.
 * @param hasInput whether the prompt brings the material it works on
 */
export function planText(request: Request, hasInput: boolean): Additions {
  const { prompt } = request
  const facets = findFacets(prompt.text)
  if (prompt.isOtherLanguage) return planOtherLanguage(prompt, facets)
  if (prompt.isSectioned && REQUIRED.every((part) => facets.has(part))) return new Map()
  const isShortAnswer = wantsShortAnswer(prompt.text)
  const kind = isShortAnswer ? SHORT_ANSWER : chooseTaskKind(request.lead)
  const additions = new Map<TextPart, string>()
  const add = (part: TextPart, text: string) => {
    if (text !== '' && !(prompt.isSectioned && facets.has(part))) additions.set(part, text)
  }
  if (!facets.has('role')) add('role', writeRole(kind, request.lead, findTopic(request.lead)))
  const isConversation = facets.has('conversation')
  if (!prompt.isSectioned && !isConversation) add('context', writeList(writeBlanks(kind, facets, request)))
  if (kind.input && !hasInput && !isConversation && !facets.has('inputs') && prompt.text.length <= MAX_WITHOUT_INPUT)
    add('inputs', writeBlank(kind.input, request.names))
  if (request.structure.parts.has('steps') && !facets.has('steps')) add('steps', writeNumbers(kind.steps))
  add('constraints', writeList(writeRequirements(kind, facets, request)))
  if (!facets.has('outputFormat') && !facets.has('exclusive')) add('outputFormat', kind.output)
  if (facets.has('exclusive') && !facets.has('outputFormat'))
    add('outputFormat', 'Only what is asked for above, with nothing before or after it.')
  if (request.structure.parts.has('examples') && !facets.has('examples')) {
    add('examples', writeVariable('example of a good result', 'none given; follow the description above', request.names))
  }
  if (!facets.has('check'))
    add('check', `Before you answer, check that ${kind.check}. Then check that every instruction above is followed.`)
  return additions
}

/** How a request asks for a word or a number and nothing else. */
const SHORT_CUES = splitPhrases(`
  answer yes or no, reply yes or no, answer with yes or no, yes or no answer, say only, only say, just say, in one word, one word answer,
  answer true or false, only the number, just the number, only the answer, just the answer
`)
/** Longest request of which such words say all. */
const MAX_SHORT = 300

/** What suits every answer of a few words: nothing about length, headings or readers. */
const SHORT_ANSWER: TaskKind = {
  id: 'short-answer',
  starts: [],
  cues: [],
  role: 'an expert in the subject of this task',
  blanks: [],
  requirements: ['Give the answer alone, in the form that is asked for.'],
  output: 'The answer alone, with nothing before or after it.',
  steps: ['Find the answer.', 'Test it in another way.'],
  check: 'the answer is right',
}

/** Whether an answer of a few words is all that is wanted: because it is said, or because it is a sum. */
function wantsShortAnswer(text: string): boolean {
  if (text.length > MAX_SHORT) return false
  const isSum = /^(?:what is|what's|how much is|calculate|compute)?[\d\s+*/×÷^().,=?-]+$/i.test(text) && /\d[\d\s.,()]*[+*/×÷^-]/.test(text)
  return isSum || hasPhrase(readWords(text), SHORT_CUES)
}

/** Few and short sentences: longer English ones would pull the answer into English. */
function planOtherLanguage(prompt: ReadPrompt, facets: ReadonlySet<Facet>): Additions {
  const additions = new Map<TextPart, string>()
  if (!facets.has('keepsLanguage'))
    additions.set(
      'constraints',
      '- Answer in the language of this prompt, unless it names another.\n- Follow every instruction; state what you assume.',
    )
  if (!prompt.isSectioned && !facets.has('outputFormat'))
    additions.set('outputFormat', 'The finished result first, then short notes if needed.')
  return additions
}

function writeBlanks(kind: TaskKind, facets: ReadonlySet<Facet>, { prompt, names }: Request): string[] {
  const words = readWords(prompt.text)
  return kind.blanks
    .filter((blank) => !(blank.settledBy && facets.has(blank.settledBy)) && !names.taken.has(blank.name) && !isNamed(blank, words))
    .map((blank) => writeBlank(blank, names))
}

/** Whether a prompt speaks of what a blank asks for: a word of its label, or one of the words that answer it. */
function isNamed(blank: Blank, words: string): boolean {
  const labelWords = readWords(blank.label)
    .trim()
    .split(' ')
    .filter((word) => word.length >= MIN_TELLING_WORD)
  return hasPhrase(words, [...labelWords, ...(blank.answers ?? [])])
}

function writeRequirements(kind: TaskKind, facets: ReadonlySet<Facet>, { prompt, names }: Request): string[] {
  const blanks: string[] = []
  const addBlank = (facet: 'length' | 'tone', label: string, value: string | undefined) => {
    if (value && !facets.has('conversation') && !facets.has(facet) && !names.taken.has(facet))
      blanks.push(writeBlank({ label, name: facet, value }, names))
  }
  addBlank('length', 'Length', kind.length)
  addBlank('tone', 'Tone', kind.tone)
  const remarks = facets.has('exclusive') ? [] : (kind.remarks ?? [])
  const opening = facets.has('conversation') && kind.id !== 'persona' ? ['Stay in this role for the whole conversation.'] : []
  return [...blanks, ...opening, ...kind.requirements, ...remarks, ...findCautions(readWords(prompt.text))]
}

function writeList(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n')
}

function writeNumbers(items: readonly string[]): string {
  return items.map((item, index) => `${index + 1}. ${item}`).join('\n')
}
