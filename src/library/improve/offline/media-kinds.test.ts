import { describe, expect, it } from 'vitest'
import { readPart } from '../../../improve/fallback/heading-words.ts'
import { chooseMediaKind, MEDIA } from '../../../improve/fallback/plan-media.ts'
import { readStructure, titleOf } from '../../../improve/fallback/read-structure.ts'
import { parseVariables } from '../../variables.ts'

describe.each(Object.entries(MEDIA))('%s', (_, medium) => {
  it('has a line for every part in every kind, but for those that have no such part', () => {
    const without: Record<string, readonly string[]> = {
      speech: ['tempo', 'instruments'],
      effect: ['tempo', 'instruments'],
      silence: ['genre', 'mood', 'tempo', 'instruments', 'structure'],
    }
    for (const kind of medium.kinds)
      for (const part of medium.parts) expect(Boolean(kind.lines[part]), `${kind.id}.${part}`).toBe(!without[kind.id]?.includes(part))
    // A prompt of no known kind gets every part: else what it gets could be read as another kind, which has more.
    for (const part of medium.parts) expect(medium.kinds.at(-1)?.lines[part]).toBeTruthy()
  })

  it('gives every variable a default', () => {
    for (const kind of medium.kinds) {
      for (const line of Object.values(kind.lines)) {
        for (const variable of parseVariables(line).variables) expect(variable.default, line).toBeTruthy()
        expect(line.split('${').length - 1, line).toBe(parseVariables(line).variables.length)
      }
    }
  })

  it('writes every part under a title that is read as this part', () => {
    for (const part of medium.parts) expect(readPart(titleOf(part, readStructure([])))).toBe(part)
  })
})

it.each([
  ['image', 'logo for coffee shop', 'logo'],
  ['image', 'portrait of an old fisherman in a city', 'portrait'],
  ['image', 'a castle on a mountain with a fox', 'place'],
  ['image', 'cute cat sticker', 'logo'],
  ['image', 'a poster with a cat', 'layout'],
  ['image', 'zzz', 'picture'],
  ['video', 'product video for running shoes', 'advert'],
  ['sound', 'relaxing music for sleep', 'calm'],
  ['sound', 'door creaking', 'effect'],
  ['sound', 'dog barking', 'effect'],
  ['sound', 'silence', 'silence'],
  ['sound', 'read this text aloud', 'speech'],
  ['sound', 'an a cappella song', 'unaccompanied'],
  ['sound', 'birthday song, no instruments', 'unaccompanied'],
] as const)('%s: %j is of kind %s', (medium, prompt, id) => {
  expect(chooseMediaKind(MEDIA[medium], prompt).id).toBe(id)
})
