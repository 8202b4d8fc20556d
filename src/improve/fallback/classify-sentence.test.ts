import { expect, it } from 'vitest'
import { classifySentence } from './classify-sentence.ts'

it.each([
  ['I want you to act as a linux terminal.', 'role'],
  ['You are an experienced chef.', 'role'],
  ['You are not allowed to swear.', 'task'],
  ['Please write a poem about rain.', 'task'],
  ['I will tell you what to cook and you will reply with a recipe.', 'task'],
  ['You should only reply with the recipe, and nothing else.', 'outputFormat'],
  ['Present the result as a table.', 'outputFormat'],
  ['Write a list without repeating names.', 'task'],
  ['Do not write explanations.', 'constraints'],
  ['The names should be short.', 'constraints'],
  ['My first request is "help".', 'inputs'],
  ['I am a teacher of chemistry.', 'context'],
  ['It must rhyme.', null],
  ['For example, use blue.', null],
] as const)('%j is %s', (sentence, part) => {
  expect(classifySentence(sentence)).toBe(part)
})
