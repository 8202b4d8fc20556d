import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'

/** A command or a file to copy. The button is shown by the script that copies. */
export const Sample: FC<{ words: Site['words']; text: string; label?: string; isLive?: boolean }> = ({ words, text, label, isLive }) => (
  <div class="sample" data-prompt>
    <pre data-text tabindex={0} aria-label={label}>
      <code data-live={isLive}>{text}</code>
    </pre>
    <button class="button" type="button" data-copy={words.copied} aria-label={label && `${words.copy}: ${label}`} hidden>
      {words.copy}
    </button>
  </div>
)
