import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { contentField, MAX_CONTENT, MAX_NOTE, PROMPT_TYPES } from '../../../domain/items/fields.ts'
import { mergeFields } from '../../../domain/items/filing.ts'
import { hasRight } from '../../../domain/people/teams.ts'
import { type Message, renderMessages } from '../../../domain/prompts/body.ts'
import { diffTexts } from '../../../domain/text/text-diff.ts'
import { parseVariables } from '../../../domain/variables/variables.ts'
import { AppError, invalidInput, toAppError } from '../../../errors.ts'
import { keepFormDraft, showAccount, showFormDraft } from '../../../operations/account/account.ts'
import { getVersion } from '../../../operations/items/item-page.ts'
import { showMarks } from '../../../operations/items/marks.ts'
import { savePrompt } from '../../../operations/items/save-items.ts'
import { updatePrompt } from '../../../operations/items/update-items.ts'
import { showPrompt } from '../../../operations/prompts/get-prompt.ts'
import { improvePrompt } from '../../../operations/prompts/improve-prompt.ts'
import { nameLineEnds, type SentForm, toSentForm, withLineEnds } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { FieldChanges, WordChanges } from '../../parts/changes.tsx'
import { Link, Section, Submit } from '../../parts/controls.tsx'
import { Fault, Field, sentOr } from '../../parts/field.tsx'
import {
  BaseField,
  type Choices,
  clashesInFiling,
  compareItemFields,
  DescriptionField,
  EditorForm,
  FiledMeanwhile,
  type ItemValues,
  itemLabels,
  PlaceFields,
  readBase,
  readChoices,
  readItemFields,
  SavedMeanwhile,
  TitleField,
} from '../../parts/item-fields.tsx'
import {
  ConfigField,
  hasMessages,
  Improved,
  type Improvement,
  MESSAGE_FIELDS,
  MessageFields,
  readConfig,
  readMessages,
  readSuggested,
} from '../../parts/prompt-fields.tsx'
import { MarkedText } from '../../parts/skill-files.tsx'
import type { Action, LeadsOn, PageRequest } from '../../request.ts'
import type { Site, Words } from '../../site.ts'

const FIELDS = [...MESSAGE_FIELDS, 'config', 'owner', 'title', 'description', 'type', 'category', 'tags', 'visibility', 'content', 'note']

/** A saved form: its page, its fields, and what is shown next to it. */
const savedForm = z.object({
  path: z.string(),
  fields: z.record(z.string(), z.string()),
  improvement: improvePrompt.output.nullable(),
})
/** Hidden fields of a saved form. */
const HIDDEN_FIELDS = ['lineEnds', 'baseVersion', 'base']

interface Draft extends ItemValues {
  readonly content: string
  readonly type: string
  readonly messages?: readonly Message[] | undefined
  readonly config?: object | undefined
}

/** The messages that a new chat prompt begins with. */
const FIRST_MESSAGES: readonly Message[] = [
  { role: 'system', content: '' },
  { role: 'user', content: '' },
]

const EMPTY: Draft = { title: '', description: null, categorySlug: null, tags: [], visibility: null, content: '', type: 'TEXT' }

/** The data that the form is drawn from. */
interface EditorProps {
  readonly request: PageRequest
  readonly draft: Draft
  readonly choices: Choices
  /** The prompt there is; null for a new one. */
  readonly known: { readonly version: number; readonly path: string; readonly content: string; readonly syntax?: 1 | 2 | undefined } | null
  /** Shown next to an unsaved form: a suggested version, or else a preview. */
  readonly shown?: { readonly improvement: Improvement | null }
}

/** A new prompt. */
export async function showNewPrompt(request: PageRequest) {
  // Redirects anonymous visitors to sign in before they type anything.
  await request.call(showAccount, {})
  return await drawEditor(request, request.query.get('kind') === 'chat' ? { ...EMPTY, messages: FIRST_MESSAGES } : EMPTY, null)
}

/** The editor with its current values, a rejected form or a saved one. */
async function drawEditor(request: PageRequest, draft: Draft, known: EditorProps['known']) {
  const choices = await readChoices(request)
  const savedDraft = request.sent ? null : await readSavedForm(request)
  if (!savedDraft) return <Editor request={request} draft={draft} choices={choices} known={known} />
  // The page draws a form that was sent; here nothing was refused.
  const sent = { form: toSentForm(savedDraft.fields, request.words), fault: new AppError('invalid_input', '') }
  return <Editor request={{ ...request, sent }} draft={draft} choices={choices} known={known} shown={savedDraft} />
}

/** The saved form the address names; null when there is none for this page. */
async function readSavedForm({ call, query, path }: PageRequest) {
  const id = query.get('draft')
  if (!id) return null
  const { body } = await call(showFormDraft, { id })
  const savedDraft = body === null ? null : savedForm.parse(JSON.parse(body))
  return savedDraft?.path === path ? savedDraft : null
}

/** Keeps the form, and goes to the page that shows it: back leads to the form as it was, and reloading sends nothing again. */
async function keepForm(
  { call, path }: Pick<PageRequest, 'call' | 'path'>,
  form: SentForm,
  { improvement = null, changed = {} }: { improvement?: Improvement | null; changed?: Readonly<Record<string, string>> },
) {
  const names = [...FIELDS, ...HIDDEN_FIELDS].filter((name) => form.has(name))
  const fields = { ...Object.fromEntries(names.map((name) => [name, form.text(name)])), ...changed }
  const body = JSON.stringify({ path, fields, improvement } satisfies z.infer<typeof savedForm>)
  const { id } = await call(keepFormDraft, { body })
  return { to: `${path}?draft=${id}#${improvement ? 'improved' : 'preview'}` }
}

async function readPrompt({ site, call, ref }: PageRequest) {
  const prompt = await call(showPrompt, { id: ref })
  const { role, version, isTeam, owner } = await call(showMarks, { collection: 'prompts', id: prompt.id })
  if (!hasRight(role, 'edit')) throw new AppError('forbidden', site.words.errors.notYourPrompt)
  return {
    prompt: { ...prompt, team: isTeam ? owner : null },
    known: { version, path: new URL(prompt.url).pathname, content: prompt.content, syntax: prompt.syntax },
  }
}

/** A prompt that is there, to be changed by its owner. */
export async function showEditPrompt(request: PageRequest) {
  const { prompt, known } = await readPrompt(request)
  return await drawEditor(request, prompt, known)
}

const Editor: FC<EditorProps> = ({ request, draft, choices, known, shown = null }) => {
  const { site, words, sent } = request
  const isChat = draft.messages !== undefined || (sent !== null && hasMessages(sent.form))
  const content = sent && isChat ? textOf(sent.form) : sentOr(sent, 'content', draft.content)
  const { variables, segments } = parseVariables(content)
  const newest = String(known?.version)
  const base = sentOr(sent, 'baseVersion', newest)
  const conflict = sent && known && base !== newest ? compareWithSaved(site, sent.form, draft, known.content, choices.categories) : null
  const isConflict = conflict !== null
  const refused = shown || (isConflict && sent?.fault.code === 'conflict') || clashesInFiling(sent) ? null : sent
  const title = known ? words.editPrompt : words.newPrompt
  return (
    <Layout site={site} title={title} styles={['writing.css']} scripts={['editor.js']}>
      <h1 class="over-title">{title}</h1>
      {known && conflict ? (
        <SavedMeanwhile words={words} version={known.version} way={<a href={`${known.path}/edit`}>{words.takeTheirs}</a>}>
          <FieldChanges fields={conflict.fields} />
          <div class="text">
            <WordChanges pieces={conflict.pieces} />
          </div>
        </SavedMeanwhile>
      ) : null}
      <FiledMeanwhile request={request} item={draft} choices={choices} />
      <Fault sent={refused} labels={{ ...itemLabels(words), type: words.type, content: words.text, note: words.note }} words={words} />
      <EditorForm
        words={words}
        name={known ? `${known.path}:${known.version}` : 'new-prompt'}
        isRefused={sent !== null}
        action={request.path}
        class="editor"
      >
        {known ? <input type="hidden" name="lineEnds" value={nameLineEnds(known.content)} /> : null}
        {known ? <input type="hidden" name="baseVersion" value={isConflict ? base : newest} /> : null}
        {known ? <BaseField request={request} item={draft} isConflict={isConflict} /> : null}
        {known ? <input type="hidden" name="newestVersion" value={newest} /> : null}
        <div class="editor-main">
          <TitleField request={request} title={draft.title} isFirst={known === null} />
          <DescriptionField request={request} item={draft} />
          {known?.syntax === 1 ? <p class="notice">{words.chat.meansMore}</p> : null}
          {isChat ? (
            <MessageFields request={request} messages={draft.messages ?? []} />
          ) : (
            <>
              <Field sent={sent} name="content" label={words.text} value={draft.content} rows={16} hint={words.textHint} isRequired />
              <p class="quiet" data-count={String(MAX_CONTENT)} data-counted={words.characters('{n}', '{limit}')} hidden />
            </>
          )}
          <ConfigField request={request} config={draft.config ?? null} />
          {known ? (
            <Field sent={sent} name="note" label={words.note} value="" hint={words.noteHint} maxlength={MAX_NOTE} autocomplete="off" />
          ) : null}
        </div>
        <aside class="editor-side">
          <div class="beside">
            <PlaceFields request={request} item={draft} choices={choices} isNew={known === null} />
            <Field
              sent={sent}
              name="type"
              label={words.type}
              value={draft.type}
              options={PROMPT_TYPES.map((type) => [type, words.types[type]])}
            />
          </div>
          <Section data-variables data-required={words.required} data-default={words.defaultOf('{value}')} title={words.variables}>
            <Variables words={words} variables={variables} />
          </Section>
          <section class="live" data-live hidden>
            <h2>{words.livePreview}</h2>
            <div class="text" />
          </section>
        </aside>
        <div class="actions here">
          <Submit does={isConflict ? 'overwrite' : 'save'} look="button first" data-save text={isConflict ? words.saveOver : words.save} />
          <Submit does="preview" formnovalidate text={words.preview} />
          {isChat ? null : (
            <Submit
              does="improve"
              formnovalidate
              data-improving={words.improving('{n}')}
              data-coming={words.improved}
              data-stopped={words.improveStopped}
              data-failed={words.improveFailed}
              text={words.improve}
            />
          )}
          {known || isChat ? null : <Submit does="chat" look="link" formnovalidate text={words.chat.link} />}
          {known ? <Link to={known.path} look="button" text={words.cancel} /> : null}
        </div>
        {shown?.improvement ? <Improved words={words} before={content} improvement={shown.improvement} /> : null}
      </EditorForm>
      {shown && !shown.improvement ? (
        <Section id="preview" title={words.preview}>
          <div class="text">
            <MarkedText segments={segments} />
          </div>
        </Section>
      ) : null}
    </Layout>
  )
}

/** The variables of a text, with the default of each or that it has to be filled in. */
const Variables: FC<{ words: Site['words']; variables: ReturnType<typeof parseVariables>['variables'] }> = ({ words, variables }) => (
  <ul class="variables">
    {variables.map((variable) => (
      <li>
        <mark>{variable.name}</mark> {variable.required ? words.required : words.defaultOf(variable.default ?? '')}
      </li>
    ))}
  </ul>
)

/**
 * The changes a form would make in the version that was saved after it was opened; null when the two are equal.
 * The form need not have been refused: a preview is in conflict, too.
 */
function compareWithSaved(site: Site, form: SentForm, saved: Draft, content: string, categories: Choices['categories']) {
  const fields = [
    ...compareItemFields(site, saved, form, categories),
    { label: site.words.type, before: saved.type, after: form.text('type') || saved.type },
  ]
  const pieces = diffTexts(content, textOf(form, nameLineEnds(content)))
  const isSame = pieces.every(({ kind }) => kind === 'same') && fields.every(({ before, after }) => (before ?? '') === (after ?? ''))
  return isSame ? null : { fields, pieces }
}

/** The text of a form; of messages, the one that shows them. @throws AppError `invalid_input` for an unknown role */
function textOf(form: SentForm, lineEnds = form.text('lineEnds')): string {
  if (hasMessages(form)) return renderMessages(readMessages(form))
  return withLineEnds(form.text('content'), lineEnds)
}

/** Refuses a text that could not be saved either. @throws AppError `invalid_input` */
function checkContent(content: string): void {
  const parsed = contentField.safeParse(content)
  if (!parsed.success) throw invalidInput('content', `content ${parsed.error.issues[0]?.message}.`)
}

const OUTPUT_OF_TYPE: ReadonlyMap<string, 'image' | 'video' | 'sound'> = new Map([
  ['IMAGE', 'image'],
  ['VIDEO', 'video'],
  ['AUDIO', 'sound'],
])

/** Has the text of a form improved, and gives the page that shows the suggestion beside the form. */
export async function improveForm(request: Pick<PageRequest, 'call' | 'path'>, form: SentForm, words: Words): Promise<LeadsOn> {
  const prompt = textOf(form)
  const outputType = OUTPUT_OF_TYPE.get(form.text('type')) ?? 'text'
  const improvement = await request.call(improvePrompt, { prompt, outputType }).catch((error: unknown) => {
    const fault = toAppError(error)
    // The operation calls the text a prompt; this form calls it the content, and its label Text.
    const message = fault.message.replace(/^prompt\b/, words.text)
    throw new AppError(fault.code, message, { details: fault.details.map((detail) => ({ ...detail, path: 'content' })) })
  })
  return await keepForm(request, form, { improvement })
}

/** The fields of a chat prompt that begins with a text. */
function toFirstMessages(content: string): Record<string, string> {
  return { content: '', 'role.0': 'system', 'text.0': '', 'role.1': 'user', 'text.1': content }
}

/** Saves the prompt, or shows a preview or a suggested version. */
export const savePromptForm: Action = async (request) => {
  const { site, call, form, ref } = request
  const content = textOf(form)
  switch (form.text('do')) {
    case 'more':
      return await keepForm(request, form, {})
    case 'chat':
      return await keepForm(request, form, { changed: toFirstMessages(content) })
    case 'preview':
      checkContent(content)
      return await keepForm(request, form, {})
    case 'use': {
      const suggested = readSuggested(form, site.words)
      checkContent(suggested)
      return await keepForm(request, form, { changed: { content: suggested } })
    }
    case 'improve':
      return await improveForm(request, form, request.words)
  }
  const note = form.text('note')
  const isChat = hasMessages(form)
  const fields = {
    ...(isChat ? { messages: readMessages(form) } : { content }),
    ...(form.has('config') ? { config: readConfig(form) } : {}),
    ...(form.text('type') === '' ? {} : { type: form.choice('type', PROMPT_TYPES) }),
    ...(note === '' ? {} : { note }),
  }
  if (ref === '') {
    const { prompt, hints } = await call(savePrompt, { ...readItemFields(form, undefined), ...fields })
    return { to: `${new URL(prompt.url).pathname}?done=saved`, flash: hints }
  }
  const base = form.text('do') === 'overwrite' ? form.text('newestVersion') : form.text('baseVersion')
  const change = { ...readItemFields(form, null), ...readBase(form), ...fields, baseVersion: Number(base) }
  const merged = isChat ? null : await mergeWithNewest(request, { ...change, content })
  const { prompt, hints } = await call(updatePrompt, { id: ref, ...change, ...merged })
  return { to: `${new URL(prompt.url).pathname}?done=${merged === null ? 'saved' : 'saved-together'}`, flash: hints }
}

interface Change {
  readonly title: string
  readonly description: string | null
  readonly content: string
  readonly type?: string
  readonly baseVersion: number
}

/** An edit merged with what somebody else saved in other fields since it began; null when nobody did, or both changed the same. */
async function mergeWithNewest({ call, ref }: PageRequest, { title, description, content, type, baseVersion }: Change) {
  const { version } = await call(showMarks, { collection: 'prompts', id: ref })
  if (version <= baseVersion || baseVersion < 1) return null
  const [base, now] = await Promise.all([
    call(getVersion, { collection: 'prompts', id: ref, version: baseVersion }).catch(() => null),
    call(showPrompt, { id: ref }),
  ])
  if (!base || base.content === null) return null
  const fieldsOf = (from: { title: string; description: string | null; content: string; type?: string | null | undefined }) => ({
    title: from.title,
    description: from.description,
    content: from.content,
    type: PROMPT_TYPES.find((one) => one === from.type) ?? now.type,
  })
  const merged = mergeFields(fieldsOf({ ...base, content: base.content }), fieldsOf({ title, description, content, type }), fieldsOf(now))
  return merged && { ...merged, baseVersion: version }
}
