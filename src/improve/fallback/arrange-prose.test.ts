import { describe, expect, it } from 'vitest'
import { improveOffline } from './improve-offline.ts'

const FORMATS = ['text', 'structured_json', 'structured_yaml'] as const
const squash = (text: string) => text.replaceAll('\\n', ' ').replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
const improve = (prompt: string, outputFormat: (typeof FORMATS)[number] = 'text') =>
  improveOffline({ prompt, outputType: 'text', outputFormat, inspirations: [] })

describe('what leans on another sentence stays behind it:', () => {
  it.each([
    ['Write a post about my shop. Do not use emojis. Except in the title.', ['Do not use emojis. Except in the title.']],
    ['Write a post. Never mention prices. Unless the reader asks. Use short words.', ['Never mention prices. Unless the reader asks.']],
    ['Do not translate names. Instead keep them in italics.', ['Do not translate names. Instead keep them in italics.']],
    [
      'Write a blog post. Do not use passive voice. Especially in the first paragraph. Not even once.',
      ['Do not use passive voice. Especially in the first paragraph. Not even once.'],
    ],
    [
      'Write two stories. The first is about a dog. Do not name it. The second is about a cat. Name it Tom.',
      ['The first is about a dog. Do not name it.', 'The second is about a cat. Name it Tom.'],
    ],
    ['Write a song. I have two cats. Never mention them.', ['I have two cats. Never mention them.']],
    ['Write a poem. Do not rhyme. Then translate the poem. Keep it short.', ['Do not rhyme. Then translate the poem. Keep it short.']],
    ['Write a poem. Do not rhyme. Write a story. Use dialogue.', ['Write a poem. Do not rhyme. Write a story. Use dialogue.']],
    ['Write a speech. My boss is Ann. Avoid her name. Keep the tone warm.', ['My boss is Ann. Avoid her name.']],
    ['Write a menu. Avoid meat. Only if a guest asks. Be brief.', ['Avoid meat. Only if a guest asks.']],
    ['Write a quiz. Use short words. Otherwise pupils give up.', ['Use short words. Otherwise pupils give up.']],
    [
      'Write a guide. Do not use jargon. Nor abbreviations. But units are fine.',
      ['Do not use jargon. Nor abbreviations. But units are fine.'],
    ],
  ] as const)('%j', (prompt, together) => {
    for (const format of FORMATS) for (const pair of together) expect(squash(improve(prompt, format)), format).toContain(squash(pair))
  })
})

describe('material to work on stays whole, in order, and gives no orders:', () => {
  it.each([
    'Translate to German: You are a fool. Do not call me again.',
    'Translate to German:\nYou are a fool. Do not call me again.',
    'Translate to German:\n\nYou are a fool. Do not call me again.\n\nNever come back.',
    "Proofread this sentence. You are an honest man. Don't change names.",
    'Review: I am sad. You are a bad friend. Never call me. Is this text rude?',
    'You are a translator. Translate the following. Do not go. You are my son.',
    'Rewrite this email politely. You must pay me. Never be late.',
    'Act as a teacher. My first request is I need help. Never tell my mother. You are kind.',
    'Write a poem. You are my sunshine.',
  ])('%j', (prompt) => {
    const from = prompt.search(/You are a fool|You are an honest|I am sad|Do not go|You must pay|I need help|You are my sunshine/)
    const material = squash(prompt.slice(from))
    for (const format of FORMATS) expect(squash(improve(prompt, format)), format).toContain(material)
    const { role = '', constraints = [] } = JSON.parse(improve(prompt, 'structured_json'))
    expect(role).not.toMatch(/fool|honest|friend|son|sunshine|kind/)
    expect(constraints.join(' ')).not.toMatch(/call me|change names|Do not go|be late|my mother/)
  })
})

it('rules that lean on nothing are still told apart', () => {
  expect(
    JSON.parse(improve('Write a post about my shop. Do not use emojis. Except in the title. Use short words.', 'structured_json')),
  ).toMatchObject({
    task: 'Write a post about my shop.',
    constraints: expect.arrayContaining(['Do not use emojis. Except in the title.', 'Use short words.']),
  })
})
