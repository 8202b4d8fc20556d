import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { AppError, invalidInput, toAppError } from '../../errors.ts'
import { contentField, MAX_CONTENT, PROMPT_TYPES } from '../../library/fields.ts'
import { diffTexts } from '../../library/text-diff.ts'
import { parseVariables } from '../../library/variables.ts'
import { nameLineEnds, withLineEnds } from '../forms.ts'
import { Layout } from '../layout.tsx'
import { WordChanges } from '../parts/changes.tsx'
import { Choice, Fault, Field, sentOr } from '../parts/field.tsx'
import { ItemFieldsPart, type ItemValues, readCategories, readItemFields, TitleField } from '../parts/item-fields.tsx'
import { MarkedText } from '../parts/marked-text.tsx'
import { type Action, marks, type PageRequest, shownPrompt } from '../request.ts'

const FIELDS = ['title', 'description', 'type', 'category', 'tags', 'visibility', 'content', 'note']
const saved = z.object({ prompt: z.object({ url: z.string() }) })
const improvement = z.object({
  improved: z.string(),
  model: z.string(),
  inspirations: z.array(z.object({ slug: z.string(), title: z.string(), similarity: z.number() })),
})
type Improvement = z.infer<typeof improvement>

interface Draft extends ItemValues {
  readonly content: string
  readonly type: string
}

const EMPTY: Draft = { title: '', description: null, categorySlug: null, tags: [], visibility: null, content: '', type: 'TEXT' }

/** What the form is drawn from. */
interface EditorProps {
  readonly request: PageRequest
  readonly draft: Draft
  readonly categories: Awaited<ReturnType<typeof readCategories>>
  /** The prompt there is; null for a new one. */
  readonly known: { readonly version: number; readonly path: string; readonly content: string } | null
  /** What the form says beside what was sent: a preview, or a better text. */
  readonly shown?: { readonly preview?: true; readonly improvement?: Improvement }
}

/** A new prompt. */
export async function showNewPrompt(request: PageRequest) {
  // Asked for so that who is not signed in is sent to sign in before anything is typed.
  await request.call('show_account', {}, z.object({}))
  return <Editor request={request} draft={EMPTY} categories={await readCategories(request)} known={null} />
}

async function readPrompt({ call, ref }: PageRequest) {
  const prompt = await call('show_prompt', { id: ref }, shownPrompt)
  const { isOwner, version } = await call('show_marks', { collection: 'prompts', id: prompt.id }, marks)
  if (!isOwner) throw new AppError('forbidden', 'Only its owner may change this prompt.')
  return { prompt, known: { version, path: new URL(prompt.url).pathname, content: prompt.content } }
}

/** A prompt that is there, to be changed by its owner. */
export async function showEditPrompt(request: PageRequest) {
  const { prompt, known } = await readPrompt(request)
  return <Editor request={request} draft={prompt} categories={await readCategories(request)} known={known} />
}

const Editor: FC<EditorProps> = ({ request, draft, categories, known, shown = {} }) => {
  const { site, sent } = request
  const { words } = site
  const content = sentOr(sent, 'content', draft.content)
  const { variables, segments } = parseVariables(content)
  const isConflict = sent?.fault.code === 'conflict' && known !== null && sent.form.text('baseVersion') !== String(known.version)
  const title = known ? words.editPrompt : words.newPrompt
  return (
    <Layout site={site} title={title} isIndexed={false} scripts={['editor.js']}>
      <h1 class="over-title">{title}</h1>
      {known ? null : (
        <p class="quiet">
          <a href="/new/skill">{words.newSkillInstead}</a>
        </p>
      )}
      {isConflict ? (
        <section class="notice" role="alert">
          <p class="fault">{words.savedMeanwhile(known.version)}</p>
          <div class="text">
            <WordChanges pieces={diffTexts(known.content, withLineEnds(content, nameLineEnds(known.content)))} />
          </div>
          <p class="quiet">{words.conflictHelp}</p>
        </section>
      ) : (
        <Fault sent={shown.preview || shown.improvement ? null : sent} fields={FIELDS} summary={words.lookAtFields} />
      )}
      <form
        method="post"
        class="editor"
        data-editor={known ? `${known.path}:${known.version}` : 'new-prompt'}
        data-refused={sent ? 'true' : undefined}
        data-restore={words.restoreDraft}
        data-discard={words.discardDraft}
        data-found={words.draftFound}
      >
        {known ? <input type="hidden" name="lineEnds" value={nameLineEnds(known.content)} /> : null}
        {known ? <input type="hidden" name="baseVersion" value={sentOr(sent, 'baseVersion', String(known.version))} /> : null}
        {known ? <input type="hidden" name="newestVersion" value={String(known.version)} /> : null}
        <TitleField request={request} title={draft.title} isFirst={known === null} />
        <Field sent={sent} name="content" label={words.text} value={draft.content} rows={16} hint={words.textHint} isRequired />
        <p class="quiet" data-count={String(MAX_CONTENT)} data-counted={words.characters('{n}', '{limit}')} hidden />
        <p class="quiet" data-variables data-blanks={words.blanks}>
          {variables.length === 0 ? null : (
            <>
              {words.blanks}: {variables.map(({ name }) => name).join(', ')}
            </>
          )}
        </p>
        <ItemFieldsPart request={request} item={draft} categories={categories} isNew={known === null} />
        <div class="beside">
          <Choice
            sent={sent}
            name="type"
            label={words.type}
            value={draft.type}
            options={PROMPT_TYPES.map((type) => [type, words.types[type]])}
          />
          <Field sent={sent} name="note" label={words.note} value="" hint={words.noteHint} maxlength={200} autocomplete="off" />
        </div>
        <div class="actions here">
          {isConflict ? (
            <button class="button first" type="submit" name="do" value="overwrite">
              {words.saveOver}
            </button>
          ) : (
            <button class="button first" type="submit" name="do" value="save">
              {words.save}
            </button>
          )}
          <button class="button" type="submit" name="do" value="preview" formaction={`${request.path}#preview`}>
            {words.preview}
          </button>
          <button class="button" type="submit" name="do" value="improve" formaction={`${request.path}#improved`}>
            {words.improve}
          </button>
          {known ? (
            <a class="button" href={known.path}>
              {words.cancel}
            </a>
          ) : null}
        </div>
        {shown.improvement ? <Improved words={words} before={content} improvement={shown.improvement} /> : null}
      </form>
      {shown.preview ? (
        <section id="preview">
          <h2>{words.preview}</h2>
          <div class="text">
            <MarkedText segments={segments} />
          </div>
        </section>
      ) : null}
    </Layout>
  )
}

/** A better text, what it learned from, and a way to take it. */
const Improved: FC<{ words: PageRequest['site']['words']; before: string; improvement: Improvement }> = ({
  words,
  before,
  improvement,
}) => (
  <section id="improved">
    <h2>{words.improved}</h2>
    <div class="text">
      <WordChanges pieces={diffTexts(before, improvement.improved)} />
    </div>
    <textarea name="improved" hidden>{`\n${improvement.improved}`}</textarea>
    <p>
      <button class="button first" type="submit" name="do" value="use">
        {words.useImproved}
      </button>
    </p>
    <p class="quiet">
      {words.improvedBy(improvement.model)}
      {improvement.inspirations.length === 0 ? null : (
        <>
          {' '}
          {words.learnedFrom}:{' '}
          {improvement.inspirations.map(({ slug, title }, index) => (
            <>
              {index === 0 ? '' : ', '}
              <a href={`/prompts/${slug}`}>{title}</a>
            </>
          ))}
          .
        </>
      )}
    </p>
  </section>
)

/** What the form holds, shown once more with a preview or a better text. */
async function showAgain(
  request: Parameters<Action>[0],
  shown: NonNullable<EditorProps['shown']>,
  fields: Readonly<Record<string, string>> = {},
) {
  const { form } = request
  // The page draws a form that was sent; here nothing was refused.
  const asSent = { ...form, text: (name: string) => fields[name] ?? form.text(name) }
  const known = request.ref === '' ? null : (await readPrompt(request)).known
  const again = { ...request, sent: { form: asSent, fault: new AppError('invalid_input', '') } }
  return { html: <Editor request={again} draft={EMPTY} categories={await readCategories(request)} known={known} shown={shown} /> }
}

/** Refuses a text that could not be saved either. @throws AppError `invalid_input` */
function checkContent(content: string): void {
  const parsed = contentField.safeParse(content)
  if (!parsed.success) throw invalidInput('content', `content ${parsed.error.issues[0]?.message}.`)
}

const OUTPUT_OF_TYPE: Readonly<Record<string, string>> = { IMAGE: 'image', VIDEO: 'video', AUDIO: 'sound' }

/** Saves, or shows a preview or a better text. */
export const savePromptForm: Action = async (request) => {
  const { call, form, ref } = request
  const content = withLineEnds(form.text('content'), form.text('lineEnds'))
  const isShown = ['preview', 'use'].includes(form.text('do'))
  if (isShown) checkContent(form.text('do') === 'use' ? form.text('improved') : content)
  switch (form.text('do')) {
    case 'preview':
      return await showAgain(request, { preview: true })
    case 'use':
      return await showAgain(request, { preview: true }, { content: form.text('improved') })
    case 'improve': {
      const input = { prompt: content, outputType: OUTPUT_OF_TYPE[form.text('type')] ?? 'text' }
      const found = await call('improve_prompt', input, improvement).catch((error: unknown) => {
        const fault = toAppError(error)
        // The operation calls the text a prompt; this form calls it the content.
        if (fault.code !== 'invalid_input') throw error
        throw new AppError(fault.code, fault.message, { details: fault.details.map((detail) => ({ ...detail, path: 'content' })) })
      })
      return await showAgain(request, { improvement: found })
    }
  }
  const note = form.text('note')
  const fields = {
    ...readItemFields(form, ref === ''),
    content,
    ...(form.text('type') === '' ? {} : { type: form.text('type') }),
    ...(note === '' ? {} : { note }),
  }
  if (ref === '') return { to: `${new URL((await call('save_prompt', fields, saved)).prompt.url).pathname}?done=saved` }
  const base = form.text('do') === 'overwrite' ? form.text('newestVersion') : form.text('baseVersion')
  const { prompt } = await call('update_prompt', { id: ref, ...fields, baseVersion: Number(base) }, saved)
  return { to: `${new URL(prompt.url).pathname}?done=saved` }
}
