import { describe, expect, it } from 'vitest'
import { parseVariables } from '../../variables.ts'
import { readPart } from './heading-words.ts'
import { chooseMediaKind, MEDIA } from './plan-media.ts'
import { readStructure, titleOf } from './read-structure.ts'

describe.each(Object.entries(MEDIA))('%s', (_, medium) => {
  it('has a line for every part in every kind: else a second pass that reads another kind would add one', () => {
    for (const kind of medium.kinds) for (const part of medium.parts) expect(kind.lines[part], `${kind.id}.${part}`).toBeTruthy()
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
] as const)('%s: %j is of kind %s', (medium, prompt, id) => {
  expect(chooseMediaKind(MEDIA[medium], prompt).id).toBe(id)
})
