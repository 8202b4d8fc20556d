import type { Child, FC } from 'hono/jsx'
import type { Site } from '../site.ts'

/** A command or a file to copy. The button is shown by the script that copies. */
export const Sample: FC<{ words: Site['words']; text: string; label?: string; isLive?: boolean }> = ({ words, text, label, isLive }) => (
  <div class="sample" data-prompt>
    <pre data-text tabindex={0}>
      <code data-live={isLive}>{text}</code>
    </pre>
    <button class="button" type="button" data-copy={words.copied} aria-label={label && `${words.copy}: ${label}`} hidden>
      {words.copy}
    </button>
  </div>
)

interface ShownOnceProps {
  readonly words: Site['words']
  readonly title?: string
  /** Its purpose. */
  readonly lead: string
  /** Each with a button that copies it. */
  readonly texts: readonly string[]
  readonly children?: Child
}

/** A secret that was made just now and is not shown again, such as a key or an invite's link. */
export const ShownOnce: FC<ShownOnceProps> = ({ words, title, lead, texts, children }) => (
  <section class="new-key">
    <div role="status">
      {title === undefined ? null : <h2>{title}</h2>}
      <p>{lead}</p>
    </div>
    {texts.map((text) => (
      <Sample words={words} text={text} />
    ))}
    {children}
  </section>
)
