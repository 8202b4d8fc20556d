import { formatsOf } from '../formats.ts'

/** Numbers as German writes them. */
export const { number } = formatsOf('de')

/** A number with its noun, such as 1 Stimme or 1.234 Stimmen. */
export const count = (n: number, one: string, many: string) => `${number(n)} ${n === 1 ? one : many}`

/** The prompts and skills of a place, without those it has none of. */
export const countItems = (prompts: number, skills: number) =>
  [prompts > 0 ? count(prompts, 'Prompt', 'Prompts') : '', skills > 0 ? count(skills, 'Skill', 'Skills') : ''].filter((text) => text !== '')
