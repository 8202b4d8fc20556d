import { z } from 'zod'
import { PROMPT_TYPES, versionNumber } from '../../domain/items/fields.ts'
import type { FullVersion } from '../../domain/items/items.ts'
import { toFileContent } from '../../domain/skills/skill.ts'
import { AppError } from '../../errors.ts'
import { defineOperation } from '../core/define-operation.ts'
import { baseVersionInput, editorOf, itemTarget, notFound, requireEditable, requireItem } from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'
import { chatOutputs, fileRecord, toChat, toVersionRecord, versionRecord } from '../core/records.ts'
import { checkParts, hasParts, inTurn } from '../prompts/compose.ts'

const versionInput = versionNumber.describe('Number of the version')

async function findVersion(context: Needs<'items'>, itemId: string, number: number): Promise<FullVersion> {
  const version = await context.store.items.findVersion(context.actor, itemId, number)
  if (!version) throw new AppError('not_found', `Version ${number} not found, or not visible to you.`)
  return version
}

export const listVersions = defineOperation({
  name: 'list_versions',
  title: 'List versions',
  summary: 'The history of a prompt or skill, newest first. Owners see all versions, others those saved while public.',
  scope: null,
  surfaces: { rest: 'GET /api/{collection}/{id}/versions', cli: 'list-versions collection id' },
  input: z.object({
    ...itemTarget,
    before: versionNumber.optional().describe('Only versions below this number'),
    limit: z.number().int().min(1).max(100).default(50),
  }),
  output: z.object({
    versions: z.array(versionRecord),
    nextBefore: z.number().int().nullable().describe('Pass as before for the next page; null at the end'),
  }),
  async run(context: Needs<'items'>, input) {
    const item = await requireItem(context, input)
    const limits = { before: input.before ?? null, limit: input.limit + 1 }
    const versions = await context.store.items.listVersions(context.actor, item.id, limits)
    const page = versions.slice(0, input.limit)
    return { versions: page.map(toVersionRecord), nextBefore: versions.length > input.limit ? (page.at(-1)?.version ?? null) : null }
  },
})

export const getVersion = defineOperation({
  name: 'get_version',
  title: 'Get a version',
  summary: 'One version of a prompt (content) or of a skill (every file), as it was saved.',
  scope: null,
  surfaces: { rest: 'GET /api/{collection}/{id}/versions/{version}', cli: 'get-version collection id version' },
  input: z.object({ ...itemTarget, version: versionInput }),
  output: versionRecord.extend({
    title: z.string(),
    description: z.string().nullable(),
    categorySlug: z.string().nullable(),
    tags: z.array(z.string()),
    type: z.enum(PROMPT_TYPES).nullable(),
    content: z.string().nullable().describe("A prompt's text; null for skills"),
    ...chatOutputs,
    files: z.array(fileRecord).nullable().describe("A skill's files; null for prompts"),
  }),
  async run(context: Needs<'items'>, input) {
    const item = await requireItem(context, input)
    const version = await findVersion(context, item.id, input.version)
    const { title, description, category: categorySlug, tags, type, body, files } = version
    const fields = { title, description, categorySlug, tags: [...tags], type, content: body?.content ?? null }
    return { ...toVersionRecord(version), ...fields, ...toChat(body), files: files ? files.map(toFileContent) : null }
  },
})

export const restoreVersion = defineOperation({
  name: 'restore_version',
  title: 'Restore a version',
  summary: 'Restore an older version of an item you own as the newest one. Visibility does not change; no version is lost.',
  scope: 'write',
  writes: true,
  surfaces: { rest: 'POST /api/{collection}/{id}/versions/{version}/restore', cli: 'restore-version collection id version' },
  input: z.object({ ...itemTarget, version: versionInput, baseVersion: baseVersionInput }),
  output: z.object({
    success: z.literal(true),
    id: z.string(),
    version: z.number().int(),
    lostCategory: z.string().optional().describe('Slug of the category of that version, if it was removed since. The item then has none.'),
  }),
  async run(context: Needs<'items' | 'inTransaction', 'sealer'>, input) {
    const user = requireUser(context.actor)
    const item = await requireItem(context, input)
    requireEditable(user, item, await context.store.items.findRole(user.userId, item.ownerId), input.id)
    const old = await findVersion(context, item.id, input.version)
    const editor = { ...editorOf(user), note: `Restored version ${old.version}`, restores: old.version }
    const { title, description, tags, category } = old
    const content = item.kind === 'prompt' ? { type: old.type ?? item.type, ...old.body } : { files: old.files ?? undefined }
    const restored = await inTurn(context, old.body !== null && hasParts(old.body), async (store) => {
      if (old.body) await checkParts({ ...context, store }, old.body, item)
      return await store.items.changeItem(item.kind, item.id, editor, (current, role) => {
        requireEditable(user, current, role, input.id, { baseVersion: input.baseVersion })
        return { title, description, tags, category, ...content }
      })
    })
    if (!restored) throw notFound(item.kind)
    const lostCategory = restored.category === null ? old.category : null
    return { success: true as const, id: restored.id, version: restored.version, ...(lostCategory === null ? {} : { lostCategory }) }
  },
})
