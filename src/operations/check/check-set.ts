import { z } from 'zod'
import { inTurns } from '../../check/check-files.ts'
import { checkTexts, compareSkills, readTriggerFile, routeQueries, type TriggerQuery } from '../../check/set/likeness.ts'
import {
  DEFAULT_CONTEXT,
  type Level,
  type ListedSkill,
  listFindings,
  MAX_QUERY,
  planListings,
  type Routing,
  setReport,
  toFindings,
} from '../../check/set/report.ts'
import type { SharedSkill } from '../../domain/items/items.ts'
import type { TextVectors } from '../../domain/ports/encoder.ts'
import { parseScope } from '../../domain/skills/channel-scope.ts'
import { MAX_DESCRIPTION } from '../../domain/skills/frontmatter.ts'
import { decodeText } from '../../domain/skills/skill.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { listSharedSkills } from '../channels/shared-items.ts'
import { defineOperation } from '../core/define-operation.ts'
import { notFound, refInput } from '../core/inputs.ts'
import type { Context, Needs, Output } from '../core/procedure.ts'

/** Skills of a set that are checked: their pairs grow with the square. */
const MAX_SKILLS = 1_000
/** Queries of one call; those given come before those of the skills. */
const MAX_QUERIES = 500
const MAX_GIVEN = 200
/** Files of trigger queries that are read, and the largest of them in bytes. */
const MAX_FILES = 100
const MAX_FILE_BYTES = 65_536
const TRIGGER_FILE = /^evals\/[^/]+\.json$/
/** How long a call encodes texts; the next one goes on from there. */
const ENCODE_MS = 10_000

export const checkSet = defineOperation({
  name: 'check_set',
  title: 'Check a set of skills',
  summary:
    'Skills as agents see them together: the cost of their listing, pairs too alike, names that hide another, descriptions, and routing of queries.',
  scope: null,
  cost: 200,
  surfaces: { rest: 'POST /api/check/set' },
  input: z.object({
    scope: refInput
      .default('')
      .describe('/@NAME of a person or team, /collections/REF, /tags/NAME, /categories/NAME. Default: everything you see'),
    context: z.number().int().min(1_000).max(10_000_000).default(DEFAULT_CONTEXT).describe("The agent's context in tokens"),
    characters: z.number().int().min(1).max(1_000_000).optional().describe('A budget of your own for the listing, which then counts alone'),
    queries: z
      .array(
        z.object({
          query: z.string().min(1).max(MAX_QUERY),
          skill: refInput.describe('Id or name of the skill that should answer'),
          shouldTrigger: z.boolean().default(true).describe('false: it should not answer'),
        }),
      )
      .max(MAX_GIVEN)
      .optional()
      .describe('Queries to route, before those in `evals/*.json` of the skills'),
    changed: z
      .object({ id: refInput, description: z.string().min(1).max(MAX_DESCRIPTION) })
      .optional()
      .describe('A description to try: routing is given with it, too'),
  }),
  output: setReport.extend({ routingAfter: setReport.shape.routing.describe('The same with the changed description') }),
  async run(context, { scope, context: tokens, characters = null, queries: given = [], changed }) {
    const { textVectors } = context
    const { shared, isCut, isNewest } = await readSet(context, scope)
    const skills = shared.flatMap(({ id, described }): ListedSkill[] => (described.fault === null ? [{ id, ...described }] : []))
    if (changed && skills.every(({ id }) => id !== changed.id)) throw notFound('skill')
    const timeout = AbortSignal.timeout(ENCODE_MS)
    const signal = context.signal ? AbortSignal.any([context.signal, timeout]) : timeout
    const texts = skills.map(({ description }) => ({ title: '', text: description }))
    const described = (await textVectors?.encodeTexts(texts, signal)) ?? []
    const ids = skills.map(({ id }) => id)
    const wholes = textVectors && isNewest ? await context.store.itemVectors.readVectors(textVectors.model, ids) : null
    const vectors = skills.map(({ id }, at) => ({ description: described[at] ?? null, whole: wholes?.get(id) ?? null }))
    const { alike, blurred } = await inTurns(compareSkills(skills, vectors))
    const { names, faults } = await inTurns(checkTexts(skills))
    const descriptions = skills.flatMap((skill, at) =>
      toFindings(skill, [...(faults[at] ?? []), ...(blurred.has(skill.id) ? (['blurred'] as const) : [])]),
    )
    const budgets = planListings(skills, tokens, characters)
    const queries = [...resolveQueries(skills, given), ...(isNewest ? await readOwnQueries(context, shared) : [])].slice(0, MAX_QUERIES)
    const routed = textVectors && queries.length > 0 ? await route(textVectors, skills, queries, changed, signal) : null
    const counted = budgets.filter(({ profile }) => characters === null || profile === 'custom')
    const routing = routed?.routing ?? null
    const found = [...counted, ...listFindings({ alike, names, descriptions, routing })]
    const count = (wanted: Level) => found.filter(({ level }) => level === wanted).length
    return {
      skills: skills.length,
      isCut,
      unlisted: shared.flatMap(({ id, title, described: { fault } }) => (fault === null ? [] : [{ id, title, fault }])),
      pending: textVectors && vectors.filter(({ description, whole }) => !description || (wholes && !whole)).length,
      counts: { high: count('high'), medium: count('medium'), low: count('low') },
      budgets,
      alike,
      names,
      descriptions,
      routing,
      routingAfter: routed?.routingAfter ?? null,
    }
  },
})

/**
 * The skills of a scope, under the visibility rule of channels; `isNewest` unless a label picks their versions.
 * @throws AppError `invalid_input` for no scope, `not_found` for an empty one
 */
async function readSet(context: Context, written: string) {
  const path = written === '' || written.startsWith('/') ? written : `/${written}`
  const scope = parseScope(path)
  if (!scope) throw invalidInput('scope', 'scope is no path of a scope, such as /@NAME or /collections/REF.')
  const shared: SharedSkill[] = []
  for (let after: number | null = 0; after !== null && shared.length <= MAX_SKILLS; ) {
    const page: Output<typeof listSharedSkills> = await listSharedSkills.call(context, { scope: path, after })
    shared.push(...page.skills)
    after = page.next
  }
  if (shared.length === 0 && path !== '') throw new AppError('not_found', `There are no skills in ${path} that you can see.`)
  return { shared: shared.slice(0, MAX_SKILLS), isCut: shared.length > MAX_SKILLS, isNewest: scope.label === undefined }
}

/** Queries of a call by the ids of their skills. @throws AppError `not_found` for a skill that is not in the set */
function resolveQueries(skills: readonly ListedSkill[], given: readonly TriggerQuery[]): TriggerQuery[] {
  return given.map((query) => {
    const skill = skills.find(({ id, name }) => id === query.skill || name === query.skill)
    if (!skill) throw new AppError('not_found', `No skill "${query.skill}" is in this set.`)
    return { ...query, skill: skill.id }
  })
}

async function readOwnQueries({ actor, store }: Needs<'items'>, skills: readonly SharedSkill[]): Promise<TriggerQuery[]> {
  const isRead = ({ filename, size }: SharedSkill['files'][number]) => TRIGGER_FILE.test(filename) && size <= MAX_FILE_BYTES
  const files = skills.flatMap(({ id, files: all }) => all.filter(isRead).map(({ filename }) => ({ id, filename })))
  const queries: TriggerQuery[] = []
  for (const { id, filename } of files.slice(0, MAX_FILES)) {
    const file = await store.items.readSkillFile(actor, id, filename)
    queries.push(...readTriggerFile((file && decodeText(file.bytes)) ?? '', id))
  }
  return queries
}

async function route(
  { encodeTexts, encodeQuery }: TextVectors,
  skills: readonly ListedSkill[],
  queries: readonly TriggerQuery[],
  changed: { readonly id: string; readonly description: string } | undefined,
  signal: AbortSignal,
): Promise<{ readonly routing: Routing; readonly routingAfter: Routing | null }> {
  const asked: (Float32Array | null)[] = []
  for (const { query } of queries) asked.push(signal.aborted ? null : ((await encodeQuery(query))?.vector ?? null))
  const routeBy = async (descriptionOf: (skill: ListedSkill) => string) => {
    const texts = skills.map((skill) => ({ title: skill.name, text: descriptionOf(skill) }))
    return routeQueries(skills, await encodeTexts(texts, signal), queries, asked)
  }
  const routing = await routeBy(({ description }) => description)
  const routingAfter = changed ? await routeBy(({ id, description }) => (id === changed.id ? changed.description : description)) : null
  return { routing, routingAfter }
}
