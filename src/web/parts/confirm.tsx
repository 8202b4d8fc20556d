import type { Child, FC } from 'hono/jsx'
import { ActionButton } from './field.tsx'

/** A button that first says what the one behind it means. It works without a script. */
export const Confirm: FC<{ label: string; name?: string | undefined; means: string; children?: Child }> = ({
  label,
  name,
  means,
  children,
}) => (
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

export interface ConfirmedProps {
  readonly does: string
  /** Of both buttons. */
  readonly label: string
  /** Their accessible name, where the label alone does not say what it is about. */
  readonly name?: string
  readonly means: string
  readonly action?: string
  readonly values?: Readonly<Record<string, string>>
}

/** An action that is confirmed. */
export const ConfirmedAction: FC<ConfirmedProps> = ({ does, label, name, means, action, values }) => (
  <Confirm label={label} name={name} means={means}>
    <ActionButton does={does} {...(action && { action })} {...(values && { values })} {...(name && { label: name })} text={label} />
  </Confirm>
)
