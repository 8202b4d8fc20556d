import { raw } from 'hono/html'
import type { Child, FC } from 'hono/jsx'
import type { parseVariables } from '../../domain/variables/variables.ts'
import { isMarkdown, renderSkillMarkdown } from '../markup/skill-markdown.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'

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
