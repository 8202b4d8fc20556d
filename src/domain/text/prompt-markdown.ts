import { stringify } from 'yaml'
import { describeBody, type PromptBody } from '../prompts/body.ts'

/** The fields of a prompt in its file. */
interface FiledPrompt extends Pick<PromptBody, 'content'> {
  readonly messages?: PromptBody['messages'] | undefined
  readonly config?: PromptBody['config'] | undefined
  /** Undefined: the file does not say. */
  readonly syntax?: PromptBody['syntax'] | undefined
  readonly slug: string
  readonly title: string
  readonly description: string | null
  readonly type: string
  readonly author: string
  readonly category: string | null
  readonly tags: readonly string[]
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
    ...bodyFields(prompt),
  }
  return `---\n${stringify(head, { lineWidth: 0 })}---\n\n${prompt.content}`
}

function bodyFields({ content, messages = null, config = null, syntax }: FiledPrompt) {
  const { syntax: said, ...more } = describeBody({ content, messages, config, syntax: syntax ?? 2 })
  return { ...more, ...(said !== undefined && syntax !== undefined && { syntax }) }
}
