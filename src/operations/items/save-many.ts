import { z } from 'zod'
import { toAppError } from '../../errors.ts'
import type { Item } from '../../library/items.ts'
import { visibilitySchema } from '../../library/visibility.ts'
import { defineOperation, findUnknown, withHint } from '../core/define-operation.ts'
import { hintsOutput } from '../core/filter-hints.ts'
import { MAX_SAVED } from '../core/inputs.ts'
import { createParser, type Needs } from '../core/procedure.ts'
import { itemUrl } from '../core/records.ts'
import { createPrompt, newPromptInput } from '../prompts/save-prompt.ts'
import { createSkill, newSkillInput } from '../skills/save-skill.ts'

/** Items that are written at the same time: they share a commit, and others get their turn after each. */
const AT_ONCE = 50

const outcome = z.object({
  index: z.number().int().describe('Place in the list that was sent, from 0'),
  id: z.string().optional(),
  slug: z.string().optional(),
  visibility: visibilitySchema.optional(),
  url: z.string().optional(),
  error: z.string().optional().describe('Code of the error, where this one was not saved'),
  message: z.string().optional().describe('Why it was not'),
  hints: hintsOutput.hints.describe('What was ignored in it'),
})
const output = z.object({ saved: z.number().int(), refused: z.number().int(), results: z.array(outcome) })

/** Saves each of some items, and answers each for itself: one that is refused, or fails, leaves the others. */
async function saveEach<Input>(
  { baseUrl, onFault }: Needs<never, 'baseUrl'>,
  { schema, parse }: { readonly schema: z.ZodObject; parse(raw: unknown): Input },
  items: readonly unknown[],
  save: (item: Input) => Promise<Item>,
): Promise<z.infer<typeof output>> {
  const saveOne = async (raw: unknown, index: number): Promise<z.infer<typeof outcome>> => {
    try {
      const item = await save(parse(raw))
      const { id, slug, visibility, kind } = item
      return withHint({ index, id, slug, visibility, url: itemUrl(baseUrl, kind, item) }, findUnknown(schema, raw))
    } catch (error) {
      const { code, message } = toAppError(error)
      // Those before it are saved, and must be answered.
      if (code === 'internal') onFault?.(error)
      return withHint({ index, error: code, message }, findUnknown(schema, raw))
    }
  }
  const results: z.infer<typeof outcome>[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map((item, place) => saveOne(item, at + place)))))
    const fault = results.find(({ error }) => error === 'unavailable')
    if (!fault) continue
    // Each of the others would wait as long as these did.
    while (results.length < items.length) results.push({ ...fault, index: results.length })
    break
  }
  const refused = results.filter(({ error }) => error !== undefined).length
  return { saved: results.length - refused, refused, results }
}

const PROMPTS = { schema: newPromptInput, parse: createParser(newPromptInput) }
const SKILLS = { schema: newSkillInput, parse: createParser(newSkillInput) }
const manyItems = z.array(z.record(z.string(), z.unknown())).min(1).max(MAX_SAVED)

export const savePrompts = defineOperation({
  name: 'save_prompts',
  title: 'Save many prompts',
  summary: `Save up to ${MAX_SAVED} new prompts in one call, each as POST /api/prompts takes it. Each is answered for itself, in the order sent: one that is refused leaves the others.`,
  scope: 'write',
  writes: true,
  cost: 5,
  surfaces: { rest: { method: 'POST', path: '/api/prompts/batch' } },
  input: z.object({ prompts: manyItems.describe('Prompts, as POST /api/prompts takes them') }),
  output,
  run: async (context: Needs<'items', 'baseUrl'>, { prompts }) =>
    await saveEach(context, PROMPTS, prompts, (prompt) => createPrompt(context, prompt)),
})

export const saveSkills = defineOperation({
  name: 'save_skills',
  title: 'Save many skills',
  summary: `Save up to ${MAX_SAVED} new skills in one call, each as POST /api/skills takes it. Each is answered for itself, in the order sent: one that is refused leaves the others.`,
  scope: 'write',
  writes: true,
  cost: 10,
  surfaces: { rest: { method: 'POST', path: '/api/skills/batch' } },
  input: z.object({ skills: manyItems.describe('Skills, as POST /api/skills takes them') }),
  output,
  run: async (context: Needs<'items', 'baseUrl'>, { skills }) =>
    await saveEach(context, SKILLS, skills, (skill) => createSkill(context, skill)),
})
