import { MAX_DESCRIPTION } from '../../../domain/items/fields.ts'
import { readFrontmatter } from '../../../domain/skills/frontmatter.ts'
import { SKILL_MD } from '../../../domain/skills/skill.ts'
import { cutAtWord } from '../../../domain/text/characters.ts'
import { invalidInput } from '../../../errors.ts'
import { showAccount } from '../../../operations/account/account.ts'
import { saveSkill } from '../../../operations/items/save-items.ts'
import { Layout } from '../../layout.tsx'
import { Submit } from '../../parts/controls.tsx'
import { Fault, Field } from '../../parts/field.tsx'
import { DescriptionField, EditorForm, itemLabels, PlaceFields, readChoices, readItemFields, TitleField } from '../../parts/item-fields.tsx'
import { drawLiveMarkdown, LiveMarkdown, readUploads, SkillUpload } from '../../parts/skill-files.tsx'
import type { Action, PageRequest } from '../../request.ts'
import { SKILL_TEMPLATE } from '../../strings/messages.ts'

/** A new skill: a SKILL.md written here, or files from the reader's machine. */
export async function showNewSkill(request: PageRequest) {
  const { site, words, sent } = request
  await request.call(showAccount, {})
  const empty = { title: '', description: null, categorySlug: null, tags: [], visibility: null }
  return (
    <Layout site={site} title={words.newSkill} styles={['writing.css', 'changes.css']} scripts={['editor.js']}>
      <h1 class="over-title">{words.newSkill}</h1>
      <Fault sent={sent} labels={{ ...itemLabels(words), skillMd: SKILL_MD, upload: words.upload }} words={words} />
      <EditorForm words={words} name="new-skill" isRefused={sent !== null} enctype="multipart/form-data" class="editor">
        <div class="editor-main">
          <SkillUpload request={request} hint={words.uploadNewHint} />
          <TitleField request={request} title="" isFirst hint={words.skillTitleHint} />
          <DescriptionField request={request} item={empty} />
          <Field sent={sent} name="skillMd" label={SKILL_MD} value={SKILL_TEMPLATE} rows={14} hint={words.skillMdHint} data-source="" />
        </div>
        <aside class="editor-side">
          <div class="beside">
            <PlaceFields request={request} item={empty} choices={await readChoices(request)} isNew />
          </div>
          <LiveMarkdown words={words} filename={SKILL_MD} />
        </aside>
        <div class="actions here">
          <Submit does="save" look="button first" data-save text={words.save} />
        </div>
      </EditorForm>
    </Layout>
  )
}

/** Saves a new skill; a title or description left empty is read from SKILL.md. */
export const saveNewSkill: Action = async (request) => {
  const { call, form, site } = request
  if (form.text('do') === 'live') {
    const file = { filename: SKILL_MD, content: form.text('content') }
    return { html: await drawLiveMarkdown(request, file, [SKILL_MD], request.path) }
  }
  const uploaded = await readUploads(request, form)
  const files = uploaded.some(({ filename }) => filename === SKILL_MD)
    ? uploaded
    : [{ filename: SKILL_MD, content: form.text('skillMd') }, ...uploaded]
  const head = files.find(({ filename }) => filename === SKILL_MD)
  const text = head ? Buffer.from(head.content, head.encoding ?? 'utf8').toString('utf8') : ''
  if (text === SKILL_TEMPLATE) throw invalidInput('skillMd', site.words.errors.skillNotWritten)
  const { name, description } = readFrontmatter(text, '')
  const fields = readItemFields(form, undefined)
  const summary = description === null ? undefined : cutAtWord(description, MAX_DESCRIPTION)
  const { skill, hints } = await call(saveSkill, {
    ...fields,
    title: fields.title || (name ?? ''),
    description: fields.description ?? summary,
    files,
  })
  return { to: `${new URL(skill.url).pathname}/edit?done=saved`, flash: hints }
}
