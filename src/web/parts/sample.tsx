import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'

/** A command or a file to copy. The button is shown by the script that copies. */
export const Sample: FC<{ words: Site['words']; text: string }> = ({ words, text }) => (
  <div class="sample" data-prompt>
    <pre data-text tabindex={0}>
      <code>{text}</code>
    </pre>
    <button class="button" type="button" data-copy={words.copied} hidden>
      {words.copy}
    </button>
  </div>
)
