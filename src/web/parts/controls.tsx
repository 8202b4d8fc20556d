import { raw } from 'hono/html'
import type { Child, FC, JSX } from 'hono/jsx'
import type { HtmlEscapedString } from 'hono/utils/html'
import { LRUCache } from 'lru-cache'
import type { Site, Words } from '../site.ts'

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

interface TabsProps {
  readonly label: string
  readonly of: readonly (readonly [to: string, text: Child, isChosen: boolean])[]
  /** Default: `filters tabs` */
  readonly look?: string
  /** Whether the chosen one is the page itself, or only a part of it, as by default. */
  readonly current?: 'page' | 'true'
  /** Above the links. */
  readonly children?: Child
}

/** Links to the parts of a list, one of which is shown. */
export const Tabs: FC<TabsProps & { class?: string }> = ({ label, of, look = 'filters tabs', current = 'true', children, ...more }) => (
  <nav aria-label={label} {...more}>
    {children}
    <ul class={look}>
      {of.map(([to, text, isChosen]) => (
        <LinkItem to={to} current={isChosen && current} text={text} />
      ))}
    </ul>
  </nav>
)

/** The orders of a list, as links. */
export const Sorts: FC<Pick<TabsProps, 'label' | 'of'>> = ({ label, of }) => (
  <Tabs label={label} class="sorts" look="filters" of={of}>
    <span class="quiet">{label}</span>
  </Tabs>
)

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

/** Size of the drawn parts of one language, in UTF-16 units, with their keys. */
const MAX_DRAWN = 2_000_000
/** The size of an entry besides its texts. */
const ENTRY = 200

const drawn = new WeakMap<object, LRUCache<string, HtmlEscapedString>>()

/**
 * A part of a page that many pages show, drawn once: its key and its words say everything that it depends on.
 * @param words the catalogue it is drawn in
 * @param key of the part: everything besides the catalogue that it depends on
 * @param draw of JSX that waits for nothing
 */
export function drawOnce(words: Words, key: string, draw: () => { toString(): string | Promise<string> }): HtmlEscapedString {
  const parts = drawn.get(words) ?? new LRUCache({ maxSize: MAX_DRAWN, sizeCalculation: ({ length }, key) => length + key.length + ENTRY })
  drawn.set(words, parts)
  const known = parts.get(key)
  if (known) return known
  const html = draw().toString()
  if (typeof html !== 'string') throw new Error('A part that is drawn once waits for nothing.')
  const part = raw(html)
  parts.set(key, part)
  return part
}
