import { formatsOf } from '../formats.ts'

/** Numbers as English writes them. */
export const { number } = formatsOf('en')

/** A number with its noun, such as 1 vote or 1,234 votes. */
export const count = (n: number, one: string, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`

/** The prompts and skills of a place, without those it has none of. */
export const countItems = (prompts: number, skills: number) =>
  [prompts > 0 ? count(prompts, 'prompt') : '', skills > 0 ? count(skills, 'skill') : ''].filter((text) => text !== '')
