import { isRoleSentence } from './classify-sentence.ts'
import { type Part, readPart } from './heading-words.ts'
import { readHeading } from './read-heading.ts'
import { hasPhrase, readWords, splitPhrases } from './read-words.ts'
import { splitLines, splitSentences } from './split-text.ts'

/** What a prompt can settle beside its parts. `exclusive`: nothing but the result is wanted. `conversation`: the writer will send more. `keepsLanguage`: the language of the answer is named. */
export type Facet = Part | 'audience' | 'tone' | 'length' | 'exclusive' | 'conversation' | 'keepsLanguage'

/** Phrases that settle a facet wherever they stand. Adding text can only add facets, which is why a second pass adds nothing. */
const TEXT_CUES: Partial<Record<Facet, readonly string[]>> = {
  audience: splitPhrases(`
    audience, readership, reader, for kid, for children, to kid, to children, for beginner, to a beginner, to beginner, student,
    pupil, aged, grade, for adult, for developer, for expert, for a child, to a child, year old, for teenager, for teen, for senior,
    layperson, layman, laymen, for professional, non technical, for dummies, target group, for my boss, for my team, stakeholder,
    for parent, for teacher, for manager
  `),
  tone: splitPhrases(`
    tone, formal, informal, funny, humorous, friendly, casual, serious, polite, persuasive, witty, sarcastic, conversational, playful,
    sad, happy, in the style of, voice, cheerful, warm, angry, firm
  `),
  length: splitPhrases(`
    word, word count, character, sentence, paragraph, page, length, short, brief, concise, long, minute, line, verse, stanza, at most,
    no more than, less than, haiku, sonnet, limerick, tweet, one liner
  `),
  constraints: splitPhrases(`
    do not, don't, dont, never, avoid, must, at least, at most, no more than, make sure, ensure, always, should be, requirement, rule,
    constraint, guideline
  `),
  outputFormat: splitPhrases(`
    output format, in the form of, reply with, respond with, reply only, only reply, only respond, only output, output only,
    return only, only return, as a table, in a table, in table, as json, in json, json format, json object, in markdown, as markdown,
    markdown format, in csv, as csv, in yaml, in xml, code block, bullet point, bulleted, numbered list, as a list, a list of,
    following format, the format, response format, following structure, output should, as html, in latex, single file
  `),
  exclusive: splitPhrases(`
    nothing else, only reply, reply only, only output, output only, only return, return only, only respond, respond only, only answer,
    answer only, no explanation, do not write explanation, do not explain, no comment, without explanation, and only, no other text
  `),
  conversation: splitPhrases(`
    i will tell, i will provide, i will type, i will give, i will ask, i will write, i will send, i will say, i will share,
    i will speak, i will describe, i will supply, i will be the, my first request, my first question, my first sentence,
    my first suggestion, my first command, my first, first message, i'll give, i'll tell, i'll provide
  `),
  steps: ['step by step', 'follow these steps', 'step 1', 'first step'],
  examples: ['for example', 'for instance', 'an example', 'e g', 'example'],
  check: splitPhrases(`
    before you answer, before answering, before you reply, before responding, double check, check that, self check, verify that,
    review your
  `),
  keepsLanguage: ['language of this prompt'],
}

/**
 * Everything a prompt settles already, from its headings, labels, and phrases.
 * @param cues the phrases that count for the kind of output; the default is for text
 */
export function findFacets(text: string, cues: Partial<Record<Facet, readonly string[]>> = TEXT_CUES): Set<Facet> {
  const words = readWords(text)
  const facets = new Set<Facet>()
  for (const [facet, phrases] of Object.entries(cues)) if (isFacet(facet, cues) && hasPhrase(words, phrases)) facets.add(facet)
  for (const line of splitLines(text)) {
    for (const part of partsOfLine(line)) facets.add(part)
  }
  return facets
}

function isFacet(name: string, cues: Partial<Record<Facet, readonly string[]>>): name is Facet {
  return Object.hasOwn(cues, name)
}

/** The parts one line opens: as a heading, as the label of a list item, or as a sentence that gives a role. */
function partsOfLine(line: string): Part[] {
  const bare = line.replace(/^[\s>]{0,20}(?:[-*•] {1,4})?/u, '')
  const parts: Part[] = []
  const heading = readHeading(bare)
  if (heading?.part) parts.push(heading.part)
  const content = heading ? heading.rest : bare
  if (content !== '' && splitSentences(content).some((sentence) => isRoleSentence(readWords(sentence)))) parts.push('role')
  if (!heading && bare.startsWith('"')) {
    const key = readPart(bare.slice(1, bare.indexOf('"', 1)))
    if (key) parts.push(key)
  }
  return parts
}
