import { z } from 'zod'
import { CASE_LAYOUTS, type CaseFiles, caseFiles, type EvalCase, type KeptRun } from '../../domain/evals/evals.ts'
import { versionNumber } from '../../domain/items/fields.ts'
import type { Item } from '../../domain/items/items.ts'
import { privateReaderId } from '../../domain/people/actor.ts'
import { hasRight, requireRight } from '../../domain/people/teams.ts'
import type { PromptBody } from '../../domain/prompts/body.ts'
import type { SkillFile } from '../../domain/skills/skill.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { convertCases } from '../../evals/convert-cases.ts'
import { HOLDOUT_FILE, withoutCases } from '../../evals/holdouts.ts'
import { type CaseList, joinLists, readCases, readPromptCaseFiles, readPromptCases } from '../../evals/read-cases.ts'
import { defineOperation, itemWrite } from '../core/define-operation.ts'
import { itemTarget, requireItem } from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'

/** An item whose runs the caller may read or report: results may quote what only its owner reads. @throws AppError */
export async function requireTested(
  context: Needs<'items'>,
  target: z.infer<z.ZodObject<typeof itemTarget>>,
  right: 'see' | 'edit',
  does = 'read its results',
): Promise<Item> {
  const user = requireUser(context.actor)
  const item = await requireItem(context, target)
  requireRight(await context.store.items.findRole(user.userId, item.ownerId), right, does)
  return item
}

/** A version as tests see it: the files that its digest covers (a prompt counts as one file), and the body of a prompt. */
interface Tested {
  readonly files: readonly SkillFile[]
  readonly body: PromptBody | null
  readonly config: PromptBody['config']
}

/** A version of an item for its tests. @throws AppError `not_found` */
export async function readTested({ actor, store }: Needs<'items'>, item: Item, number: number): Promise<Tested> {
  const version = await store.items.findVersion(actor, item.id, number)
  if (!version) throw new AppError('not_found', `Version ${number} not found, or not visible to you.`)
  const { title, description, body, files } = version
  // Tests in a config are not part of the text, so that a new case voids no results.
  const text = body && { ...body, config: withoutCases(body.config) }
  const prompt = { filename: 'prompt', bytes: Buffer.from(JSON.stringify([title, description, text])) }
  return { files: files ?? [prompt], body, config: body?.config ?? null }
}

/** Cases of one answer. */
const PAGE = 200

/** Whether the caller sees the cases of an item that are held out: whoever may change it does. */
export async function seesHoldouts({ actor, store }: Needs<'items'>, item: Item): Promise<boolean> {
  const reader = privateReaderId(actor)
  return reader !== null && hasRight(await store.items.findRole(reader, item.ownerId), 'edit')
}

/** The problem of a case that claims to be held out in a file that every reader gets. */
const SHOWN = 'claims to be held out, but is served with the item: import it again, or move the case with set_cases'

/** The cases in files that are kept beside a version. */
function readKeptCases({ kind }: Pick<Item, 'kind'>, files: CaseFiles): CaseList {
  const read = files.map(({ filename, content, encoding }) => ({ filename, bytes: Buffer.from(content, encoding ?? 'utf8') }))
  return kind === 'skill' ? readCases(read) : readPromptCaseFiles(read)
}

async function readOwnCases(context: Needs<'items'>, item: Item, version: number): Promise<CaseList> {
  // Whoever sees an item sees its newest version.
  if (item.version === version && item.kind === 'skill') return readCases(await context.store.items.readSkillFiles(context.actor, item.id))
  if (item.version === version && item.kind === 'prompt') return readPromptCases(item.config ?? {}, 'config')
  const { files, config } = await readTested(context, item, version)
  return item.kind === 'skill' ? readCases(files) : readPromptCases(config ?? {}, 'config')
}

/** The cases of a version: in its own files or config, and beside it. */
export async function readItemCases(context: Needs<'items' | 'evals'>, item: Item, version: number): Promise<CaseList> {
  const own = await readOwnCases(context, item, version)
  const shown = own.cases.filter(({ isHoldout }) => isHoldout).map(({ id, file }) => ({ file, case: id, problem: SHOWN }))
  const beside = readKeptCases(item, await context.store.evals.readCaseFiles(item.id, version))
  // Beside a skill, and in what an import took out of a prompt, are those alone that its readers must not get.
  const held = beside.cases.map(
    (one): EvalCase => ({ ...one, isHoldout: one.isHoldout || item.kind === 'skill' || one.file === HOLDOUT_FILE }),
  )
  return joinLists([
    { cases: own.cases.map((one) => ({ ...one, isHoldout: false })), problems: [...own.problems, ...shown] },
    { ...beside, cases: held },
  ])
}

/** The cases of a version that the caller may see. @throws AppError */
async function readShownCases(
  context: Needs<'items' | 'evals'>,
  target: z.infer<z.ZodObject<typeof itemTarget>>,
  version: number | undefined,
) {
  const item = await requireItem(context, target)
  const all = await readItemCases(context, item, version ?? item.version)
  if (await seesHoldouts(context, item)) return { item, list: all }
  // Problems of files that have one, or are kept beside the version, are hidden too.
  const kept = await context.store.evals.readCaseFiles(item.id, version ?? item.version)
  const hidden = new Set([
    ...all.cases.filter(({ isHoldout }) => isHoldout).map(({ file }) => file),
    ...kept.map(({ filename }) => filename),
  ])
  const list: CaseList = {
    cases: all.cases.filter(({ isHoldout }) => !isHoldout),
    problems: all.problems.filter(({ file }) => !hidden.has(file)),
  }
  return { item, list }
}

const problemRecord = z.object({ file: z.string(), case: z.string().nullable(), problem: z.string() })
const problems = z.array(problemRecord).describe('Unknown keys, no grader, double names, a prompt that gives the answer away; at most 200')

export const listCases = defineOperation({
  name: 'list_cases',
  title: 'List test cases',
  summary: 'The tests of a prompt or skill, whatever their layout, and what is wrong with them. Held-out ones are for its editors.',
  scope: null,
  cost: 10,
  surfaces: { rest: 'GET /api/{collection}/{id}/cases', cli: 'list-cases collection id' },
  input: z.object({
    ...itemTarget,
    version: versionNumber.optional().describe('Default: the newest'),
    after: z.number().int().min(0).default(0).describe('nextAfter of the page before'),
    limit: z.number().int().min(1).max(PAGE).default(PAGE),
  }),
  output: z.object({
    cases: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        layout: z.string(),
        file: z.string(),
        graders: z.number().int(),
        shouldTrigger: z.boolean().nullable().describe('Whether the skill should be used at all; null: not said'),
        isHoldout: z.boolean().describe('Kept beside the version, never served with it'),
      }),
    ),
    problems,
    total: z.number().int(),
    nextAfter: z.number().int().nullable(),
  }),
  async run(context: Needs<'items' | 'evals'>, { version, after, limit, ...target }) {
    const { list } = await readShownCases(context, target, version)
    return {
      cases: list.cases.slice(after, after + limit).map(({ id, name, layout, file, graders, shouldTrigger, isHoldout }) => ({
        id,
        name,
        layout,
        file,
        graders: graders.length,
        shouldTrigger,
        isHoldout,
      })),
      problems: list.problems.slice(0, PAGE).map((problem) => ({ ...problem })),
      total: list.cases.length,
      nextAfter: after + limit < list.cases.length ? after + limit : null,
    }
  },
})

export const setCases = defineOperation({
  name: 'set_cases',
  title: 'Set test cases',
  summary:
    'Replace the test cases that are kept beside the newest version: the tests of a prompt (`.prompt.yml`, `promptfooconfig.yaml`), the held-out ones of a skill (`evals/…`). They are never delivered with the item.',
  ...itemWrite,
  surfaces: { rest: 'PUT /api/{collection}/{id}/cases', cli: 'set-cases collection id' },
  input: z.object({ ...itemTarget, files: caseFiles.describe('All of them; none removes all') }),
  output: z.object({ success: z.literal(true), total: z.number().int(), problems }),
  async run(context: Needs<'items' | 'evals'>, { files, ...target }) {
    const item = await requireTested(context, target, 'edit', 'change its tests')
    if (new Set(files.map(({ filename }) => filename)).size < files.length) throw invalidInput('files', 'files has a name twice.')
    const outside = item.kind === 'skill' ? files.find(({ filename }) => !filename.startsWith('evals/')) : undefined
    if (outside) throw invalidInput('files', `${outside.filename} is not in evals/, where tests of a skill are.`)
    const list = readKeptCases(item, files)
    if (files.length > 0 && list.cases.length === 0) {
      const [first] = list.problems
      throw invalidInput('files', first ? `No case was found: ${first.file} ${first.problem}.` : 'No case was found in files.')
    }
    await context.store.evals.writeCaseFiles(item.id, files, { replaces: true })
    return { success: true as const, total: list.cases.length, problems: list.problems.slice(0, PAGE).map((problem) => ({ ...problem })) }
  },
})

export const getCases = defineOperation({
  name: 'get_cases',
  title: 'Get test cases',
  summary: 'The files with test cases that are kept beside a version of a prompt or skill you may change.',
  scope: 'read',
  cost: 5,
  surfaces: { rest: 'GET /api/{collection}/{id}/case-files', cli: 'get-cases collection id' },
  input: z.object({ ...itemTarget, version: versionNumber.optional().describe('Default: the newest') }),
  output: z.object({ files: caseFiles }),
  async run(context: Needs<'items' | 'evals'>, { version, ...target }) {
    const item = await requireTested(context, target, 'edit', 'read its held-out tests')
    if (version !== undefined) await readTested(context, item, version)
    return { files: [...(await context.store.evals.readCaseFiles(item.id, version ?? item.version))] }
  },
})

export const convertTestCases = defineOperation({
  name: 'convert_cases',
  title: 'Convert test cases',
  summary: 'The tests of a prompt or skill as files of another layout, and what that layout does not carry. Nothing is saved.',
  scope: null,
  cost: 20,
  surfaces: { rest: 'GET /api/{collection}/{id}/cases/{layout}', cli: 'convert-cases collection id layout' },
  input: z.object({ ...itemTarget, layout: z.enum(CASE_LAYOUTS), version: versionNumber.optional().describe('Default: the newest') }),
  output: z.object({
    files: z.array(z.object({ filename: z.string(), content: z.string() })),
    lost: z.array(z.string()).describe('With the number of times'),
  }),
  async run(context: Needs<'items' | 'evals'>, { layout, version, ...target }) {
    const { item, list } = await readShownCases(context, target, version)
    const { files, lost } = convertCases(list.cases, layout, item.slug)
    return { files: files.map(({ filename, bytes }) => ({ filename, content: Buffer.from(bytes).toString() })), lost: [...lost] }
  },
})

/** Versions of a trend. */
export const TREND = 30

/** The newest complete run of a version, as plots show it. */
export function toTrendPoint({ seq, version, passed, failed }: KeptRun) {
  return { run: seq, version, passed, failed }
}
