import { createHash } from 'node:crypto'
import { z } from 'zod'
import { textField, titleField } from '../../domain/items/fields.ts'
import { hasRight } from '../../domain/people/teams.ts'
import { variablesOf } from '../../domain/prompts/body.ts'
import { itemTarget, requireItem } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { itemUrl } from '../core/records.ts'
import { composePrompt } from '../prompts/compose.ts'
import { valuesInput } from '../prompts/get-prompt.ts'
import { requireTested } from './tested-items.ts'
import { TREND, toTrendPoint } from './trend.ts'

/** Runs of which each case shows the verdict. */
const STRIP = 8

/** An item with the trend of its tests, and the verdicts of its cases in the newest runs, as its page of tests shows them. */
export const showTestsPage = defineProcedure({
  scope: null,
  input: z.object({ ...itemTarget, cases: z.array(z.string()).max(200).default([]).describe('Names of those whose verdicts are shown') }),
  async run(context: Needs<'items' | 'evals', 'baseUrl' | 'sealer' | 'tests'>, { cases, ...target }) {
    const { actor, store, baseUrl, tests } = context
    const item = await requireItem(context, target)
    const role = actor.kind === 'user' ? await store.items.findRole(actor.userId, item.ownerId) : null
    const trend = hasRight(role, 'see') ? await store.evals.listTrend(item.id, TREND) : []
    const strip = trend.slice(-STRIP)
    const verdicts = await store.evals.listVerdicts(
      strip.map(({ seq }) => seq),
      cases,
    )
    return {
      title: item.title,
      url: itemUrl(baseUrl, item.kind, item),
      version: item.version,
      isOwn: hasRight(role, 'see'),
      mayEdit: hasRight(role, 'edit'),
      mayManage: hasRight(role, 'manage'),
      models: [...tests.models.keys()],
      trend: trend.map(toTrendPoint),
      strips: cases.map((name) => strip.map(({ seq, version }) => ({ version, passed: verdicts.get(seq)?.get(name) ?? null }))),
    }
  },
})

/** The variables of a prompt with its parts, for the page that tries it. */
export const showTryPage = defineProcedure({
  scope: 'read',
  input: z.object({ id: itemTarget.id }),
  async run(context: Needs<'items', 'baseUrl' | 'sealer' | 'tests'>, { id }) {
    const item = await requireTested(context, { collection: 'prompts', id }, 'edit', 'test it')
    const variables = item.kind === 'prompt' ? variablesOf(await composePrompt(context, item)) : []
    return { title: item.title, url: itemUrl(context.baseUrl, item.kind, item), variables, models: [...context.tests.models.keys()] }
  },
})

/** Keeps values as a case of a prompt: its answer must contain a text. */
export const keepCase = defineProcedure({
  scope: 'write',
  writes: true,
  input: z.object({
    id: itemTarget.id,
    name: titleField,
    contains: textField({ max: 10_000, blank: false }),
    variables: valuesInput.optional(),
  }),
  async run(context: Needs<'items' | 'evals'>, { id, name, contains, variables = {} }) {
    const item = await requireTested(context, { collection: 'prompts', id }, 'edit', 'test it')
    const made = { description: name, vars: variables, assert: [{ type: 'contains', value: contains }] }
    const content = `${JSON.stringify({ tests: [made] }, null, 2)}\n`
    // A file each, so that of two at once none is lost.
    const filename = `kept-${createHash('sha256').update(content).digest('hex').slice(0, 12)}.json`
    await context.store.evals.writeCaseFiles(item.id, [{ filename, content }], { replaces: false })
    return { filename }
  },
})
