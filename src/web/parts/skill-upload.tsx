import type { FC } from 'hono/jsx'
import type { FileContent } from '../../domain/skills/skill.ts'
import { invalidInput } from '../../errors.ts'
import { readSkillArchive } from '../../operations/skills/skill-files.ts'
import type { SentForm } from '../forms.ts'
import type { PageRequest } from '../request.ts'
import { Below, faultOf } from './field.tsx'

/** Files that are opened; others are taken as they are. */
const ARCHIVE = /\.(?:zip|skill)$/i

/** The field that takes files of a skill. */
export const SkillUpload: FC<{ request: PageRequest; hint: string }> = ({ request: { site, sent }, hint }) => (
  <div class="field">
    <label for="field-upload">{site.words.upload}</label>
    <input type="file" id="field-upload" name="upload" multiple aria-describedby="upload-hint" />
    <Below id="upload" hint={hint} fault={faultOf(sent, 'upload')} />
  </div>
)

/** The files that were chosen: a zip is opened, others are taken as they are. */
export async function readUploads(request: PageRequest, form: SentForm, folder = ''): Promise<FileContent[]> {
  const files: FileContent[] = []
  const chosen = form.files('upload')
  if (chosen.filter(({ filename }) => ARCHIVE.test(filename)).length > 1) throw invalidInput('upload', request.site.words.errors.oneZip)
  for (const { filename, bytes } of chosen) {
    const content = Buffer.from(bytes).toString('base64')
    if (ARCHIVE.test(filename)) {
      const opened = await request.call(readSkillArchive, { archive: content })
      files.push(...opened.files.map(({ encoding, ...file }) => (encoding ? { ...file, encoding } : file)))
    } else files.push({ filename: `${folder}${filename}`, content, encoding: 'base64' })
  }
  return files
}
