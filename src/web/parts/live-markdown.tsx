import { raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { isMarkdown, renderSkillMarkdown } from '../markup/skill-markdown.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { FrontmatterTable } from './frontmatter-table.tsx'

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
