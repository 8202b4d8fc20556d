import type { TextPart } from './heading-words.ts'
import { hasPhrase, readWords, splitPhrases, startsWithPhrase } from './read-words.ts'

/** How a sentence begins that gives the model a role. */
const ROLE_STARTS = splitPhrases(`
  act as, act like, i want you to act, i want you act, your new identity is, your identity is, your name is, i want you to be,
  i would like you to act, i'd like you to act, i need you to act, please act as, you are a, you are an, you are the, you are my,
  you're a, you're an, you are now, imagine you are, imagine you're, imagine that you are, pretend, assume the role, take the role,
  take on the role, play the role, your role is, behave as, behave like, from now on you are, as a, as an, i want you to play,
  i want you to become, you will act as, you will be acting as, i want you to imagine, i want you to assume, you are
`)
const NO_ROLE = splitPhrases(`
  you are not, you are allowed, you are free, you are given, you are to, you are asked, you are done, as a result, as a rule,
  as a reminder, as a user, as a bonus, as an example, as a starting, as a last, you are tasked, you are going, you are required,
  you are responsible, you are expected, you are able, you are welcome
`)

/** Verbs a task begins with; tried after what politeness puts before them. */
const TASK_VERBS = new Set(
  (
    'write create make generate build design develop explain summarize summarise translate review analyze analyse plan brainstorm classify extract draw paint compose ' +
    'draft describe compare evaluate assess suggest recommend propose find list convert rewrite edit proofread improve optimize optimise refactor debug fix implement ' +
    'outline research teach tell give produce prepare help solve calculate answer recite convert turn transform check identify simulate render show compile code'
  ).split(' '),
)
const POLITE = splitPhrases(`
  please, can you, could you, would you, i want you to, i would like you to, i'd like you to, i need you to, help me, help me to,
  you will, your task is to, your job is to, your goal is to, you should, you must, now
`)

/** What the writer will do next belongs to the task even when it says how to reply. */
const DEAL_STARTS = ['i will', "i'll", 'when i', 'if i', 'whenever i']
/** What holds for the whole conversation, and leans on nothing. */
const DEALS_BY_TURNS = ['when i', 'whenever i']

const OUTPUT_STARTS = splitPhrases(`
  output, return, reply, respond, answer with, answer in, answer only, format, present, only reply, only output, only return,
  only respond, the output, the answer should, the response should, your response, your answer, your reply, your replies,
  your responses, provide the output, provide your answer, deliver, use the following format, structure the, the format,
  the result should
`)
const OUTPUT_PHRASES = splitPhrases(`
  reply with, respond with, only reply, reply only, output format, in the form of, in a table, as a table, as json, in json,
  in markdown, as a list, as markdown, in csv, code block, bullet point, nothing else
`)
const CONSTRAINT_STARTS = splitPhrases(`
  do not, don't, dont, never, avoid, always, make sure, ensure, be sure, keep, no, only, must, limit, be, remember, please do not,
  please don't, please make sure, please ensure, please keep, use, include, stick to, focus on, refrain, note that, important,
  without, the tone, tone, maintain, stay
`)
const CONSTRAINT_PHRASES = splitPhrases(`
  do not, don't, never, must, must not, should not, shouldn't, at most, at least, no more than, avoid, should be, should have,
  should contain, should include, make sure
`)
const INPUT_STARTS = splitPhrases(`
  here is, here are, here's, below is, the text is, this is the, the following is, my first, my request, my question is, my topic is,
  text to, the topic is, topic is
`)
const INPUT_PHRASES = splitPhrases(`
  my first request, my first question, my first sentence, my first suggestion, my first command, first message is
`)
const CONTEXT_STARTS = splitPhrases(`
  i am, i'm, i have, i've, we are, we're, we have, my, our, the context, background, currently, the audience, the target audience,
  the goal, the purpose, the reader
`)
const EXAMPLE_STARTS = ['for example', 'for instance', 'an example', 'e g', 'example']
/** Sentences that lean on the one before stay with it. */
const LEANING_STARTS = splitPhrases(`
  this, that, these, those, it, they, then, also, however, but, and, or, otherwise, if so, in this case, in that case, he, she, such,
  so, therefore, thus, after that, next, once, likewise, here, there, except, unless, especially, instead, only if, only when,
  only for, only in, even, not, nor, if, when, whenever, where, while, until, though, although, because, since, particularly,
  in particular, including, excluding, apart from, other than, save for, rather, still, yet, neither, either, both, plus, too, again,
  in addition, additionally, furthermore, moreover, conversely, meanwhile, afterwards, finally, lastly, first, second, secondly, third,
  the first, the second, the third, the last, the other, the former, the latter, the same, which, as long as, provided, for those, for that
`)
/** A word that stands for something said before: a sentence with one means little, or something else, away from the sentence before it. */
const POINTING = splitPhrases(`
  it, its, them, this, these, those, he, she, him, his, her, they, their, theirs, former, latter, the same, the other, each other
`)

/**
 * The part a sentence of prose belongs to, by how English prompts are phrased; null when it goes on with the one before.
 * The order of the tests is the order of trust: "Write a list, do not repeat names" asks for something before it forbids something.
 */
export function classifySentence(sentence: string): TextPart | null {
  const words = readWords(sentence)
  if (isRoleSentence(words)) return 'role'
  if (hasPhrase(words, INPUT_PHRASES) || startsWithPhrase(words, INPUT_STARTS)) return 'inputs'
  if (isLeaning(words)) return null
  if (startsWithPhrase(words, DEAL_STARTS) || beginsTask(words)) return 'task'
  if (startsWithPhrase(dropPolite(words), OUTPUT_STARTS) || hasPhrase(words, OUTPUT_PHRASES)) return 'outputFormat'
  if (startsWithPhrase(words, CONSTRAINT_STARTS) || hasPhrase(words, CONSTRAINT_PHRASES)) return 'constraints'
  if (startsWithPhrase(words, CONTEXT_STARTS)) return 'context'
  return 'task'
}

function isLeaning(words: string): boolean {
  return !startsWithPhrase(words, DEALS_BY_TURNS) && (startsWithPhrase(words, EXAMPLE_STARTS) || startsWithPhrase(words, LEANING_STARTS))
}

/** Whether a sentence must stay behind the one before it: by how it begins, or by a word that points back. */
export function leansBack(sentence: string): boolean {
  const words = readWords(sentence)
  return isLeaning(words) || POINTING.some((word) => words.includes(` ${word} `))
}

/** Whether a sentence asks for something to be done, after what politeness or order puts before it ("Then translate …"). */
export function asksForWork(sentence: string): boolean {
  const words = readWords(sentence)
  const opening = LEANING_STARTS.find((phrase) => words.startsWith(` ${phrase} `))
  return beginsTask(opening ? words.slice(opening.length + 1) : words)
}

/** Whether a sentence, as words, gives the model a role. */
export function isRoleSentence(words: string): boolean {
  return startsWithPhrase(words, ROLE_STARTS) && !startsWithPhrase(words, NO_ROLE)
}

function beginsTask(words: string): boolean {
  return TASK_VERBS.has(firstAskedWord(words))
}

/** The first word after what politeness puts before a request. @example firstAskedWord(' please write a poem ') // 'write' */
function firstAskedWord(words: string): string {
  return dropPolite(words).trimStart().split(' ', 1)[0] ?? ''
}

/** The words of a request without what politeness puts before it. */
export function dropPolite(words: string): string {
  let rest = words
  for (let i = 0; i < 3; i++) {
    const polite = POLITE.find((phrase) => rest.startsWith(` ${phrase} `))
    if (!polite) break
    rest = rest.slice(polite.length + 1)
  }
  return rest
}
