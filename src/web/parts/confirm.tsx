import type { Child, FC } from 'hono/jsx'

/** A button that first says what the one behind it means. It works without a script. */
export const Confirm: FC<{ label: string; name?: string; means: string; children?: Child }> = ({ label, name, means, children }) => (
  <details class="menu confirm">
    <summary class="button" aria-label={name}>
      {label}…
    </summary>
    <div>
      <p>{means}</p>
      {children}
    </div>
  </details>
)
