import type { FC } from 'hono/jsx'
import { hasRight } from '../../../domain/people/teams.ts'
import { SKILL_MD } from '../../../domain/skills/skill.ts'
import { diffByLines } from '../../../domain/text/text-diff.ts'
import { AppError, invalidInput, toAppError } from '../../../errors.ts'
import type { Input, Output } from '../../../operations/core/procedure.ts'
import { showMarks } from '../../../operations/items/marks.ts'
import { updateSkill } from '../../../operations/items/update-items.ts'
import { getSkill } from '../../../operations/skills/get-skill.ts'
import { arrangeSkillFiles } from '../../../operations/skills/skill-files.ts'
import { nameLineEnds, type SentForm, withLineEnds } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { FieldChanges, LineChanges } from '../../parts/changes.tsx'
import { Details, HiddenFields, LinkLine, Submit } from '../../parts/controls.tsx'
import { Below, Done, Fault, Field, faultOf, sentOr, takeHints } from '../../parts/field.tsx'
import { Tick } from '../../parts/form.tsx'
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
import { drawLiveMarkdown, FileTree, LiveMarkdown, readUploads, SkillUpload } from '../../parts/skill-files.tsx'
import type { Action, PageRequest } from '../../request.ts'

type ShownSkill = Output<typeof getSkill>

async function readSkill({ site, call, ref }: PageRequest) {
  const skill = await call(getSkill, { id: ref })
  const { role, version, isTeam, owner } = await call(showMarks, { collection: 'skills', id: skill.id })
  if (!hasRight(role, 'edit')) throw new AppError('forbidden', site.words.errors.notYourSkill)
  return { skill: { ...skill, team: isTeam ? owner : null }, version, path: new URL(skill.url).pathname }
}

/** A skill that is there: its fields, and its files one at a time. */
export async function showEditSkill(request: PageRequest) {
  const { site, words, sent, query } = request
  const { skill, version, path } = await readSkill(request)
  const choices = await readChoices(request)
  const { categories } = choices
  const asked = sent?.form.text('filename') || query.get('file') || SKILL_MD
  const file = skill.files.find(({ filename }) => filename === asked) ?? skill.files[0]
  const does = sent?.form.text('do')
  const isOfDetails = does === 'details'
  const isConflict = sent?.fault.code === 'conflict' && sent.form.text('baseVersion') !== String(version)
  const base = String(version)
  const details: ItemValues = { ...skill, categorySlug: categorySlugOf(skill, categories) }
  const asDetails = isOfDetails ? request : { ...request, sent: null }
  return (
    <Layout site={site} title={words.editSkill} styles={['writing.css', 'changes.css']} scripts={['editor.js']}>
      <h1 class="over-title">{words.editSkill}</h1>
      <LinkLine to={path} text={skill.title} />
      <Done words={words} query={query} sent={sent} hints={takeHints(request)} baseUrl={site.baseUrl} />
      {isConflict ? (
        <SavedMeanwhile words={words} version={version}>
          {isOfDetails ? <FieldChanges fields={compareItemFields(site, details, sent.form, categories)} /> : null}
          {file && sent.form.has('content') && isComparable(file, sent.form) ? (
            <LineChanges
              site={site}
              pieces={diffByLines(file.content, withLineEnds(sent.form.text('content'), nameLineEnds(file.content)))}
            />
          ) : null}
        </SavedMeanwhile>
      ) : clashesInFiling(sent) ? null : (
        <Fault sent={sent} labels={isOfDetails ? itemLabels(words) : fileLabels(words, file?.filename ?? '')} words={words} />
      )}
      <FiledMeanwhile request={asDetails} item={details} choices={choices} />
      <div class="skill-editor">
        <div class="skill-files">
          <FileTree
            site={site}
            filenames={skill.files.map(({ filename }) => filename)}
            open={file?.filename ?? ''}
            toUrl={(filename) => `${path}/edit?file=${encodeURIComponent(filename)}`}
          />
          <form method="post" enctype="multipart/form-data">
            <HiddenFields values={{ baseVersion: base }} />
            <Field
              sent={does === 'add' ? sent : null}
              name="newFilename"
              label={words.newFile}
              hint={words.newFileHint}
              maxlength={255}
              autocomplete="off"
            />
            <Submit does="add" text={words.addFile} />
            <SkillUpload request={request} hint={words.uploadHint} />
            <Tick sent={null} name="isAll" label={words.replaceAll} />
            <Submit does="upload" text={words.uploadFiles} />
          </form>
        </div>
        <div>{file ? <FileForm request={request} file={file} base={base} does={does} version={version} /> : null}</div>
        <aside class="editor-side">
          <DetailsForm request={asDetails} skill={details} choices={choices} version={version} isConflict={isConflict && isOfDetails} />
          {file && file.encoding === undefined ? <LiveMarkdown words={words} filename={file.filename} /> : null}
        </aside>
      </div>
    </Layout>
  )
}

/** The fields outside of the files. Visibility and category come first; its title is at the top of the page already. */
const DetailsForm: FC<{ request: PageRequest; skill: ItemValues; choices: Choices; version: number; isConflict: boolean }> = ({
  request,
  skill,
  choices,
  version,
  isConflict,
}) => {
  const { words, sent } = request
  return (
    <EditorForm
      words={words}
      name={`${request.ref}/:${version}`}
      isRefused={sent !== null}
      enctype="multipart/form-data"
      class="editor details"
      aria-labelledby="details"
    >
      <h2 id="details">{words.details}</h2>
      <input type="hidden" name="baseVersion" value={isConflict ? String(version) : sentOr(sent, 'baseVersion', String(version))} />
      <BaseField request={request} item={skill} isConflict={isConflict} />
      <div class="beside">
        <PlaceFields request={request} item={skill} choices={choices} isNew={false} />
      </div>
      <Details open={faultOf(sent, 'title') !== null || faultOf(sent, 'description') !== null} summary={words.titleAndDescription}>
        <TitleField request={request} title={skill.title} isFirst={false} />
        <DescriptionField request={request} item={skill} />
      </Details>
      <Submit does="details" data-save text={isConflict ? words.saveOver : words.saveDetails} />
    </EditorForm>
  )
}

/** The field of each form for files that its faults are about. */
const FIELD_OF: Readonly<Record<string, string>> = { add: 'newFilename', upload: 'upload', rename: 'renamed' }

/** The labels of those fields. */
function fileLabels(words: PageRequest['site']['words'], filename: string): Readonly<Record<string, string>> {
  return { newFilename: words.newFile, upload: words.upload, renamed: words.newName, content: words.fileText(filename) }
}

/** A refusal of the operation, moved to the field of the form it came from. */
function sayAtField(error: unknown, does: string): AppError {
  const fault = toAppError(error)
  const path = FIELD_OF[does] ?? 'content'
  if (fault.code !== 'invalid_input' || fault.details.length === 0) return fault
  const details = fault.details.map(({ message }) => ({ path, message: message.replace(/^(?:put|rename)\[\d+\]\./, '') }))
  return new AppError(fault.code, fault.message, { details })
}

/** Longest file that is compared, in UTF-16 units of both texts. */
const MAX_COMPARED = 300_000

function isComparable(file: ShownSkill['files'][number], form: SentForm): boolean {
  return file.encoding === undefined && file.content.length + form.text('content').length <= MAX_COMPARED
}

/** The record of a skill has its category's name alone. */
function categorySlugOf(skill: ShownSkill, categories: Choices['categories']): string | null {
  return categories.find(({ name }) => name === skill.category)?.slug ?? null
}

/** Id of the form that renames or removes a file. Separate from the text form, so that Enter in its fields does not save the text. */
const NAME_FORM = 'file-name'

const FileForm: FC<{
  request: PageRequest
  file: ShownSkill['files'][number]
  base: string
  does: string | undefined
  version: number
}> = ({ request, file, base, does, version }) => {
  const isSent = does === 'file' || does === 'overwrite'
  const { site, words, sent } = request
  const isText = file.encoding === undefined
  const contentFault = isSent ? faultOf(sent, 'content') : null
  const nameFault = does === 'rename' ? faultOf(sent, 'renamed') : null
  return (
    <>
      <EditorForm
        words={words}
        name={isText ? `${request.ref}/${file.filename}:${version}` : undefined}
        isRefused={isSent}
        enctype="multipart/form-data"
      >
        <input type="hidden" name="baseVersion" value={isSent ? sentOr(sent, 'baseVersion', base) : base} />
        <HiddenFields values={{ filename: file.filename, lineEnds: nameLineEnds(file.content), newestVersion: base }} />
        <h2>
          <code>{file.filename}</code>
        </h2>
        {isText ? (
          <>
            <label class="skip" for="field-content">
              {words.fileText(file.filename)}
            </label>
            <textarea
              id="field-content"
              name="content"
              rows={24}
              class="code"
              spellcheck={false}
              data-code={site.url('code-editor.js')}
              data-filename={file.filename}
              data-source=""
              autofocus={contentFault !== null}
              aria-invalid={contentFault === null ? undefined : 'true'}
              aria-describedby={contentFault === null ? undefined : 'content-fault'}
            >{`\n${isSent ? sentOr(sent, 'content', file.content) : file.content}`}</textarea>
            <Below id="content" fault={contentFault} />
          </>
        ) : (
          <p class="quiet">{words.binaryFile}</p>
        )}
        <div class="actions here">
          {isText ? (
            <Submit
              does={isSent && sent?.fault.code === 'conflict' ? 'overwrite' : 'file'}
              look="button first"
              data-save
              text={isSent && sent?.fault.code === 'conflict' ? words.saveOver : words.saveFile}
            />
          ) : null}
          {file.filename === SKILL_MD ? null : (
            <>
              <input
                type="text"
                id="field-renamed"
                form={NAME_FORM}
                name="renamed"
                autofocus={nameFault !== null}
                aria-invalid={nameFault === null ? undefined : 'true'}
                aria-describedby={nameFault === null ? undefined : 'renamed-fault'}
                value={does === 'rename' ? sentOr(sent, 'renamed', file.filename) : file.filename}
                maxlength={255}
                aria-label={words.renameTo(file.filename)}
                class="short"
              />
              <Submit does="rename" form={NAME_FORM} text={words.rename} />
              <Submit does="remove" form={NAME_FORM} text={words.remove} />
            </>
          )}
        </div>
        <Below id="renamed" fault={nameFault} />
      </EditorForm>
      <form method="post" enctype="multipart/form-data" id={NAME_FORM}>
        <HiddenFields values={{ baseVersion: base, filename: file.filename }} />
      </form>
    </>
  )
}

/** Changes fields or files of a skill; each is one version. */
export const saveSkillForm: Action = async (request) => {
  const { site, call, form, ref } = request
  const does = form.text('do')
  const filename = form.text('filename')
  const baseVersion = Number(does === 'overwrite' ? form.text('newestVersion') : form.text('baseVersion'))
  const arrange = (change: Omit<Input<typeof arrangeSkillFiles>, 'skillId' | 'baseVersion'>) =>
    call(arrangeSkillFiles, { skillId: ref, baseVersion, ...change }).catch((error: unknown) => {
      throw sayAtField(error, does)
    })
  const back = (file: string, done: string, { hints }: Output<typeof arrangeSkillFiles>) => ({
    to: `${request.path}?file=${encodeURIComponent(file)}&done=${done}`,
    flash: hints,
  })
  switch (does) {
    case 'details': {
      const { skill, hints } = await call(updateSkill, { id: ref, ...readItemFields(form, null), ...readBase(form), baseVersion })
      return { to: `${new URL(skill.url).pathname}/edit?done=saved`, flash: hints }
    }
    case 'live': {
      const { skill } = await readSkill(request)
      const names = skill.files.map((file) => file.filename)
      return { html: await drawLiveMarkdown(request, { filename, content: form.text('content') }, names, request.path) }
    }
    case 'add': {
      const { skill } = await readSkill(request)
      const added = form.text('newFilename')
      // An empty file would take the place of the one that is there.
      if (skill.files.some((file) => file.filename === added)) throw invalidInput('newFilename', site.words.errors.fileExists(added))
      return back(added, 'file-added', await arrange({ put: [{ filename: added, content: '' }] }))
    }
    case 'upload': {
      const put = await readUploads(request, form)
      if (put.length === 0) throw invalidInput('upload', site.words.errors.noUpload)
      return back(SKILL_MD, 'uploaded', await arrange({ put, isAll: form.has('isAll') }))
    }
    case 'rename':
      return back(form.text('renamed'), 'renamed', await arrange({ rename: [{ from: filename, to: form.text('renamed') }] }))
    case 'remove':
      return back(SKILL_MD, 'removed', await arrange({ remove: [filename] }))
    default:
      return back(
        filename,
        'saved',
        await arrange({ put: [{ filename, content: withLineEnds(form.text('content'), form.text('lineEnds')) }] }),
      )
  }
}
