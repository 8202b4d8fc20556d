import { raw } from 'hono/html'
import type { Child, FC } from 'hono/jsx'
import { type FileContent, SKILL_MD } from '../../domain/skills/skill.ts'
import type { parseVariables } from '../../domain/variables/variables.ts'
import { invalidInput } from '../../errors.ts'
import { readSkillArchive } from '../../operations/skills/skill-files.ts'
import type { SentForm } from '../forms.ts'
import { isMarkdown, renderSkillMarkdown } from '../markup/markdown.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { Details, LinkItem } from './controls.tsx'
import { Below, faultOf } from './field.tsx'

type Segment = ReturnType<typeof parseVariables>['segments'][number]
const said = (segment: Segment) => (segment.kind === 'text' ? segment.text : segment.raw)

/** A prompt's text with its blanks marked, each with the name of its variable for the script that makes a field of it. Literals as they are filled in. */
export const MarkedText: FC<{ segments: readonly Segment[] }> = ({ segments }) => (
  <>{segments.map((segment) => (segment.kind === 'variable' ? <mark data-blank={segment.name}>{segment.raw}</mark> : said(segment)))}</>
)

/** Fields of a frontmatter that are shown. */
const MAX_FIELDS = 40

/** The metadata at the head of a Markdown text; nothing when there is none. */
export const FrontmatterTable: FC<{ site: Site; fields: readonly (readonly [name: string, value: Child])[] }> = ({
  site: { words },
  fields,
}) =>
  fields.length === 0 ? null : (
    <details>
      <summary class="quiet">{words.reading.frontmatter}</summary>
      <table class="head">
        <tbody>
          {fields.slice(0, MAX_FIELDS).map(([name, value]) => (
            <tr>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )

/** Where a script shows the file as it will be; nothing for files that are not Markdown. */
export const LiveMarkdown: FC<{ words: Site['words']; filename: string }> = ({ words, filename }) =>
  isMarkdown(filename) ? (
    <section class="live" data-live-file={filename} hidden>
      <h2>{words.livePreview}</h2>
      <div class="written prose" />
    </section>
  ) : null

/** The place where the script shows a Markdown file that is not saved. */
export async function drawLiveMarkdown(
  { site, signal }: PageRequest,
  file: { readonly filename: string; readonly content: string },
  filenames: readonly string[],
  path: string,
) {
  const toUrl = (filename: string) => `${path}?file=${encodeURIComponent(filename)}`
  const made = isMarkdown(file.filename) ? await renderSkillMarkdown(file, filenames, path, { toUrl }, signal()) : null
  return (
    <div data-preview>
      {made ? (
        <>
          <FrontmatterTable site={site} fields={made.fields} />
          {raw(made.html)}
        </>
      ) : (
        <p class="quiet">{site.words.noPreview}</p>
      )}
    </div>
  )
}

interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: { readonly name: string; readonly filename: string }[]
}

/** Trees with more files than this begin with their folders closed, but for those the open file is in. */
const OPEN_UP_TO = 40

interface FileTreeProps {
  readonly site: Site
  readonly filenames: readonly string[]
  /** The one that is shown. */
  readonly open: string
  toUrl(filename: string): string
}

/** A skill's files, folders in folders, SKILL.md first. */
export const FileTree: FC<FileTreeProps> = ({ site: { words }, filenames, open, toUrl }) => (
  <nav class="tree" aria-label={words.files}>
    <h2 class="kind">
      {words.files} <span>{filenames.length}</span>
    </h2>
    <Level folder={toTree(filenames)} path="" open={open} isOpen={filenames.length <= OPEN_UP_TO} toUrl={toUrl} />
  </nav>
)

function toTree(filenames: readonly string[]): Folder {
  const root: Folder = { folders: new Map(), files: [] }
  for (const filename of filenames) {
    const parts = filename.split('/')
    const name = parts.pop() ?? filename
    let folder = root
    for (const part of parts) {
      const inner = folder.folders.get(part) ?? { folders: new Map(), files: [] }
      folder.folders.set(part, inner)
      folder = inner
    }
    folder.files.push({ name, filename })
  }
  return joinFolders(root)
}

/** Folders that hold one folder alone become one, such as `docs/api`; names are in the order that people count in. */
function joinFolders({ folders, files }: Folder): Folder {
  const joined = [...folders].map(([name, folder]): [string, Folder] => {
    const inner = joinFolders(folder)
    const [only] = inner.folders
    return only && inner.folders.size === 1 && inner.files.length === 0 ? [`${name}/${only[0]}`, only[1]] : [name, inner]
  })
  return {
    folders: new Map(joined.toSorted(([one], [other]) => byName.compare(one, other))),
    files: files.toSorted((one, other) => byName.compare(one.name, other.name)),
  }
}

const byName = new Intl.Collator('en', { numeric: true })

interface LevelProps {
  readonly folder: Folder
  readonly path: string
  readonly open: string
  readonly isOpen: boolean
  toUrl(filename: string): string
}

const Level: FC<LevelProps> = ({ folder, path, open, isOpen, toUrl }) => {
  const link = ({ name, filename }: Folder['files'][number]) => (
    <LinkItem to={toUrl(filename)} current={filename === open && 'true'} text={name} />
  )
  return (
    <ul class="files">
      {folder.files.filter(({ filename }) => filename === SKILL_MD).map(link)}
      {[...folder.folders].map(([name, inner]) => {
        const below = `${path}${name}/`
        return (
          <li>
            <Details open={isOpen || open.startsWith(below)} summary={name}>
              <Level folder={inner} path={below} open={open} isOpen={isOpen} toUrl={toUrl} />
            </Details>
          </li>
        )
      })}
      {folder.files.filter(({ filename }) => filename !== SKILL_MD).map(link)}
    </ul>
  )
}

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
  if (chosen.filter(({ filename }) => ARCHIVE.test(filename)).length > 1) throw invalidInput('upload', request.words.errors.oneZip)
  for (const { filename, bytes } of chosen) {
    const content = Buffer.from(bytes).toString('base64')
    if (ARCHIVE.test(filename)) {
      const opened = await request.call(readSkillArchive, { archive: content })
      files.push(...opened.files.map(({ encoding, ...file }) => (encoding ? { ...file, encoding } : file)))
    } else files.push({ filename: `${folder}${filename}`, content, encoding: 'base64' })
  }
  return files
}
