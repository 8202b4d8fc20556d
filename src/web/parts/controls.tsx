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

/** The options of a list to choose from. */
export const Options: FC<{ of: readonly (readonly [value: string, text: string])[]; chosen?: string | undefined }> = ({ of, chosen }) => (
  <>
    {of.map(([value, text]) => (
      <option value={value} selected={value === chosen}>
        {text}
      </option>
    ))}
  </>
)

/** The texts that a field with this `list` offers. */
export const Suggestions: FC<{ id: string; of: readonly string[] }> = ({ id, of }) => (
  <datalist id={id}>
    {of.map((text) => (
      <option value={text} />
    ))}
  </datalist>
)

type SectionProps = JSX.IntrinsicElements['section'] & { readonly title: Child; readonly lead?: Child; readonly children?: Child }

/** A part of a page below its own heading. */
export const Section: FC<SectionProps> = ({ title, lead, children, ...more }) => (
  <section {...more}>
    <h2>{title}</h2>
    {lead ? <p class="quiet">{lead}</p> : null}
    {children}
  </section>
)

type DetailsProps = JSX.IntrinsicElements['details'] & { readonly summary: Child; readonly children?: Child }

/** A part of a page that is folded away. */
export const Details: FC<DetailsProps> = ({ summary, children, ...more }) => (
  <details {...more}>
    <summary>{summary}</summary>
    {children}
  </details>
)
