import type { Child, FC, JSX } from 'hono/jsx'

type LinkProps = JSX.IntrinsicElements['a'] & {
  readonly to: string
  readonly text: Child
  readonly look?: string | undefined
  /** Whether it leads to the page that has it, or to what this page shows of it. */
  readonly current?: 'page' | 'true' | false | undefined
}

/** A link; `look` is its class, such as that of a button. */
export const Link: FC<LinkProps> = ({ to, text, look, current, ...more }) => (
  <a class={look} href={to} {...more} aria-current={current || undefined}>
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

interface StripProps {
  readonly legend: string
  readonly name: string
  /** The start of their ids. Default: the name */
  readonly id?: string
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly chosen: string | undefined
  /** The form that gets the choice. */
  readonly form?: string | undefined
  readonly hidden?: boolean
}

/** A few choices beside each other, one of which is taken. */
export const Strip: FC<StripProps> = ({ legend, name, id = name, options, chosen, form, hidden }) => (
  <fieldset class="strip" hidden={hidden}>
    <legend>{legend}</legend>
    {options.map(([value, text]) => (
      <label for={`${id}-${value}`}>
        <input type="radio" id={`${id}-${value}`} name={name} value={value} checked={value === chosen} form={form} autocomplete="off" />{' '}
        {text}
      </label>
    ))}
  </fieldset>
)

/** The orders of a list, as links. */
export const Sorts: FC<{ label: string; of: readonly (readonly [to: string, text: string, isChosen: boolean])[] }> = ({ label, of }) => (
  <nav aria-label={label} class="sorts">
    <span class="quiet">{label}</span>
    <ul class="filters">
      {of.map(([to, text, isChosen]) => (
        <LinkItem to={to} current={isChosen && 'true'} text={text} />
      ))}
    </ul>
  </nav>
)
