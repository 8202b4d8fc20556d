import { stringify } from 'yaml'

/** The fields of a prompt in its file. */
interface FiledPrompt {
  readonly slug: string
  readonly title: string
  readonly description: string | null
  readonly type: string
  readonly author: string
  readonly category: string | null
  readonly tags: readonly string[]
  readonly content: string
}

/**
 * A prompt as a `.prompt.md` file, which editors read as a command: its metadata as YAML frontmatter, then its unchanged text.
 * @example writePromptMarkdown({slug: 'hi', title: 'Hi', content: 'Say hi', ...}) // '---\nname: hi\n…---\n\nSay hi'
 */
export function writePromptMarkdown(prompt: FiledPrompt): string {
  const { slug, title, description, type, author, category, tags } = prompt
  const head = {
    name: slug,
    title,
    ...(description === null ? {} : { description }),
    type,
    author,
    ...(category === null ? {} : { category }),
    ...(tags.length === 0 ? {} : { tags }),
  }
  return `---\n${stringify(head, { lineWidth: 0 })}---\n\n${prompt.content}`
}
