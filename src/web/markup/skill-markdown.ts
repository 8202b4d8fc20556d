import { splitFrontmatter } from '../../domain/skills/frontmatter.ts'
import { imageTypeOf } from '../../domain/skills/image-type.ts'
import { languageOfFile } from './languages.ts'
import { renderMarkdown } from './markdown.ts'

export function isMarkdown(filename: string): boolean {
  return languageOfFile(filename) === 'markdown'
}

/**
 * A Markdown file as it is shown: its frontmatter, and the rest as HTML with links to the other files; null when it is too long.
 * @param path what the addresses depend on
 * @param signal aborted when the reader leaves, who then gets null
 */
export async function renderSkillMarkdown(
  { filename, content }: { readonly filename: string; readonly content: string },
  filenames: Iterable<string>,
  path: string,
  { toUrl, toImage }: { toUrl(filename: string): string; toImage?(filename: string): string },
  signal: AbortSignal,
) {
  const { fields, body } = splitFrontmatter(content)
  const names = new Set(filenames)
  const links = {
    key: JSON.stringify([path, filename, toImage !== undefined, [...names]]),
    find: (relative: string) => {
      const target = resolvePath(filename, relative)
      return names.has(target) ? toUrl(target) : null
    },
    findImage: (relative: string) => {
      const target = resolvePath(filename, relative)
      return toImage && names.has(target) && imageTypeOf(target) !== null ? toImage(target) : null
    },
  }
  const html = await renderMarkdown(body, { headingShift: 2, links }, signal)
  return html === null ? null : { fields, html }
}

/** Where a relative link in a file leads, as a name in the skill. */
function resolvePath(from: string, relative: string): string {
  const parts = from.split('/').slice(0, -1)
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}
