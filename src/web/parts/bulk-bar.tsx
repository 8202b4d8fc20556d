import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { VISIBILITIES } from '../../domain/items/visibility.ts'
import { isId } from '../../domain/text/addresses.ts'
import { AppError } from '../../errors.ts'
import { keepFormDraft, showFormDraft } from '../../operations/account/account.ts'
import { addToCollection } from '../../operations/collections/collections.ts'
import type { CallOperation } from '../../operations/core/define-operation.ts'
import type { Input, Output } from '../../operations/core/procedure.ts'
import type { listCategories } from '../../operations/items/list-categories.ts'
import { changeItems, deleteItems, MAX_BULK, matchOwnItems, restoreItems, takeBackChanges } from '../../operations/items/own-items.ts'
import type { SentForm } from '../forms.ts'
import type { Action, PageRequest } from '../request.ts'
import type { Site, Words } from '../site.ts'
import { Details, Options, Submit, Suggestions } from './controls.tsx'
import { ActionButton, sentOr } from './field.tsx'

const CHANGES = ['add-tag', 'remove-tag', 'category', 'visibility', 'collect', 'delete'] as const
const ACTS = [...CHANGES, 'export', 'undo', 'confirm'] as const
/** An action on more items than this asks first. */
const ASKS_ABOVE = 25
/** The value of a list of which nothing was chosen yet. */
const UNCHOSEN = '-'
/** Refusals that are named one by one. */
const MAX_NAMED = 20

/** The result of an action, kept for the page after it, with the inverse action. */
const report = z.object({
  does: z.enum([...CHANGES, 'undo']),
  collection: z.enum(['prompts', 'skills']),
  count: z.number(),
  unchanged: z.number().default(0),
  refused: z.array(z.object({ title: z.string().nullable(), reason: z.string() })),
  inverse: takeBackChanges.input.optional(),
  deleted: z.array(z.string()).default([]),
})
/** An action on many items, kept until it is confirmed. */
const question = z.object({
  does: z.enum(CHANGES),
  collection: z.enum(['prompts', 'skills']),
  ids: z.array(z.string()),
  tags: z.array(z.string()),
  category: z.string().nullable(),
  visibility: z.enum(VISIBILITIES).nullable(),
  /** The collection that they are added to. */
  target: z.string().default(''),
})
type Question = z.infer<typeof question>

async function readKept<T>({ call, query }: Pick<PageRequest, 'call' | 'query'>, name: string, schema: z.ZodType<T>) {
  const id = query.get(name) ?? ''
  if (!isId(id)) return null
  const { body } = await call(showFormDraft, { kind: 'bulk', id })
  const parsed = schema.safeParse(JSON.parse(body ?? 'null'))
  return parsed.success ? { ...parsed.data, id } : null
}

/** The question that the address names; null when there is none, or it has expired. */
export async function readQuestion(request: Pick<PageRequest, 'call' | 'query'>) {
  return await readKept(request, 'ask', question)
}

/** Asks before many items are changed. */
export const BulkQuestion: FC<{ site: Site; question: Awaited<ReturnType<typeof readQuestion>>; here: string }> = ({
  site: { words },
  question: asked,
  here,
}) =>
  asked === null ? null : (
    <div class="notice" role="status">
      {words.library.ask[asked.does](asked.ids.length)}{' '}
      <ActionButton action={here} does="confirm" values={{ question: asked.id }} text={words.library.goOn} />
    </div>
  )

/** The report that the address names; null when there is none, or it has expired. */
export async function readReport(request: Pick<PageRequest, 'call' | 'query'>) {
  return await readKept(request, 'report', report)
}

/** Keeps the report of items that were moved to the trash elsewhere. @returns its id */
export async function keepDeleted(call: CallOperation, collection: 'prompts' | 'skills', deleted: readonly string[]): Promise<string> {
  const body: z.input<typeof report> = { does: 'delete', collection, count: deleted.length, refused: [], deleted: [...deleted] }
  return (await call(keepFormDraft, { kind: 'bulk', body: JSON.stringify(body) })).id
}

interface BulkReportProps {
  readonly site: Site
  readonly report: Awaited<ReturnType<typeof readReport>>
  /** The address of the list. */
  readonly here: string
}

/** The result of the last action, the items it left out and why, and a button that undoes it. */
export const BulkReport: FC<BulkReportProps> = ({ site: { words }, report, here }) => {
  if (!report) return null
  const { library } = words
  const { does, count, unchanged, refused, inverse, deleted } = report
  return (
    <div class="notice" role="status">
      {library.done[does](count)} {unchanged > 0 ? library.unchanged(unchanged) : null}{' '}
      {!inverse && deleted.length === 0 ? null : (
        <ActionButton class="link" action={here} does="undo" values={{ report: report.id }} text={words.undo} />
      )}
      {refused.length === 0 ? null : (
        <>
          <p>{library.refused(refused.length)}</p>
          <ul>
            {refused.slice(0, MAX_NAMED).map(({ title, reason }) => (
              <li>
                <bdi>{title ?? library.missing}</bdi>: {reason}
              </li>
            ))}
            {refused.length > MAX_NAMED ? <li>{words.audit.more(refused.length - MAX_NAMED)}</li> : null}
          </ul>
        </>
      )}
    </div>
  )
}

interface BulkBarProps {
  readonly site: Site
  readonly here: string
  /** How many items the list has over all pages. */
  readonly total: number
  readonly categories: Output<typeof listCategories>['categories']
  /** Tags to offer. */
  readonly tags: readonly string[]
  /** The reader's own collections. */
  readonly collections: readonly { readonly id: string; readonly title: string }[]
  /** How many items this page has. */
  readonly shown: number
  readonly sent: PageRequest['sent']
}

/** The actions on the selected rows of a list: their boxes belong to this form. The script shows them once something is selected. */
export const BulkBar: FC<BulkBarProps> = ({ site: { words }, here, total, categories, tags, collections, shown, sent }) => {
  const { library } = words
  const ofCategories = categories.map(({ slug, name, parent }) => [slug, parent === null ? name : `– ${name}`] as const)
  const ofVisibilities = VISIBILITIES.toReversed().map((one) => [one, words.visibilities[one]] as const)
  const ofCollections = collections.map(({ id, title }) => [id, title] as const)
  const lists = [
    ['category', 'category', words.category, [['', words.noCategory] as const, ...ofCategories], library.setCategory],
    ['visibility', 'visibility', words.visibility, ofVisibilities, library.setVisibility],
    ...(collections.length === 0 ? [] : [['collect', 'collection', library.collection, ofCollections, library.collect] as const]),
  ] as const
  return (
    <form id="bulk" class="bulk" method="post" action={here} aria-label={library.withSelected}>
      <p>
        {shown === total ? null : (
          <label class="tick" data-page hidden>
            <input type="checkbox" /> {library.selectPage(shown)}
          </label>
        )}
        <label class="tick">
          <input type="checkbox" name="all" value="yes" checked={sent?.form.has('all')} /> {library.selectAll(total, MAX_BULK)}
        </label>
        <span class="quiet" role="status" data-selected={library.selected} data-total={Math.min(total, MAX_BULK)} />
      </p>
      <Details open={sent !== null} summary={library.withSelected}>
        <div>
          <input
            name="tag"
            value={sentOr(sent, 'tag', '')}
            list="own-tags"
            aria-label={library.tag}
            placeholder={library.tag}
            autocomplete="off"
          />
          <Suggestions id="own-tags" of={tags} />
          <BulkButton does="add-tag" label={library.addTag} />
          <BulkButton does="remove-tag" label={library.removeTag} />
        </div>
        {lists.map(([does, name, label, options, submit]) => (
          <div>
            <select name={name} aria-label={label}>
              <Options of={[[UNCHOSEN, label], ...options]} chosen={sentOr(sent, name, UNCHOSEN)} />
            </select>
            <BulkButton does={does} label={submit} />
          </div>
        ))}
        <div>
          <BulkButton does="export" label={library.export} />
          <BulkButton does="delete" label={words.delete} />
        </div>
      </Details>
    </form>
  )
}

const BulkButton: FC<{ does: (typeof ACTS)[number]; label: string }> = ({ does, label }) => (
  <Submit does={does} look="button quiet" text={label} />
)

type View = Input<typeof matchOwnItems>

/** The list that says what an action sets. */
const CHOSEN_IN: { readonly [Does in (typeof ACTS)[number]]?: string } = {
  category: 'category',
  visibility: 'visibility',
  collect: 'collection',
}

/** The ids of what is selected: the boxes, or everything that the list shows on all its pages. @throws AppError `invalid_input` for nothing */
async function readSelection({ site, call }: Pick<PageRequest, 'site' | 'call'>, form: SentForm, view: View): Promise<string[]> {
  const ids = form.has('all') ? (await call(matchOwnItems, view)).ids : form.all('ids')
  if (ids.length === 0) throw new AppError('invalid_input', site.words.library.selectFirst)
  return ids
}

function readTags(form: SentForm, { library }: Words): string[] {
  const tags = form
    .text('tag')
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  if (tags.length === 0) throw new AppError('invalid_input', library.tagFirst)
  return tags
}

/** Does what a button of the bar says, and leads back to the list with a report. */
export async function changeTogether(request: Parameters<Action>[0], view: View, here: string): ReturnType<Action> {
  const { site, call, form } = request
  const { collection } = view
  const does = form.choice('do', ACTS)
  const lead = (name: string, id: string) => ({ to: `${here}${here.includes('?') ? '&' : '?'}${name}=${id}` })
  const keep = async (kept: object) => (await call(keepFormDraft, { kind: 'bulk', body: JSON.stringify(kept) })).id
  const tell = async (done: z.input<typeof report>) => {
    const id = await keep({ ...done, refused: done.refused.map(({ title, reason }) => ({ title, reason })) })
    return lead('report', id)
  }
  if (does === 'undo') {
    const last = await readReport({ call, query: new URLSearchParams({ report: form.text('report') }) })
    if (!last || (!last.inverse && last.deleted.length === 0)) throw new AppError('conflict', site.words.library.expired)
    const { restored, refused } = last.inverse
      ? await call(takeBackChanges, last.inverse)
      : await call(restoreItems, { collection: last.collection, ids: last.deleted })
    return await tell({ does, collection, count: restored, refused })
  }
  const act = async ({ does: change, collection: of, ids, tags, category, visibility, target }: Question) => {
    if (change === 'collect') {
      await call(addToCollection, { id: target, items: ids })
      return await tell({ does: change, collection: of, count: ids.length, refused: [] })
    }
    if (change === 'delete') {
      const { deleted, refused } = await call(deleteItems, { collection: of, ids })
      return await tell({ does: change, collection: of, count: deleted.length, refused, deleted })
    }
    const fields = {
      'add-tag': { addTags: tags },
      'remove-tag': { removeTags: tags },
      category: { category },
      visibility: { visibility: visibility ?? undefined },
    }[change]
    const { changed, inverse, ...done } = await call(changeItems, { collection: of, ids, ...fields })
    return await tell({ does: change, collection: of, count: changed.length, ...(changed.length > 0 && { inverse }), ...done })
  }
  if (does === 'confirm') {
    const asked = await readQuestion({ call, query: new URLSearchParams({ ask: form.text('question') }) })
    if (!asked) throw new AppError('conflict', site.words.library.expired)
    return await act(asked)
  }
  const ids = await readSelection(request, form, view)
  const list = CHOSEN_IN[does]
  if (list !== undefined && form.text(list) === UNCHOSEN) throw new AppError('invalid_input', site.words.library.chooseFirst)
  if (does === 'export') return { to: `/library/export.zip?selection=${await keep({ collection, ids })}` }
  const asked: Question = {
    does,
    collection,
    ids,
    tags: does === 'add-tag' || does === 'remove-tag' ? readTags(form, site.words) : [],
    category: form.text('category') || null,
    visibility: does === 'visibility' ? form.choice('visibility', VISIBILITIES) : null,
    target: form.text('collection'),
  }
  // The operation refuses more than MAX_BULK.
  const isAsked = ids.length > ASKS_ABOVE && ids.length <= MAX_BULK
  return isAsked ? lead('ask', await keep(asked)) : await act(asked)
}
