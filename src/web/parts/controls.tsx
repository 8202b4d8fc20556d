import type { Child, FC, JSX } from 'hono/jsx'

type LinkProps = JSX.IntrinsicElements['a'] & { readonly to: string; readonly text: Child; readonly look?: string | undefined }

/** A link; `look` is its class, such as that of a button. */
export const Link: FC<LinkProps> = ({ to, text, look, ...more }) => (
  <a class={look} href={to} {...more}>
    {text}
  </a>
)

/** A link that is an entry of a list. */
export const LinkItem: FC<LinkProps> = (props) => (
  <li>
    <Link {...props} />
  </li>
)

/** A link on a line of its own. */
export const LinkLine: FC<LinkProps> = (props) => (
  <p>
    <Link {...props} />
  </p>
)

type SubmitProps = JSX.IntrinsicElements['button'] & {
  readonly text: Child
  readonly does?: string | undefined
  readonly look?: string | undefined
}

/** A button that sends its form; `does` says which button of the page it was. */
export const Submit: FC<SubmitProps> = ({ text, does, look = 'button', ...more }) => (
  <button class={look} type="submit" name={does && 'do'} value={does} {...more}>
    {text}
  </button>
)

/** Fields of a form that nobody sees. */
export const HiddenFields: FC<{ values: Readonly<Record<string, string>> }> = ({ values }) => (
  <>
    {Object.entries(values).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
)
