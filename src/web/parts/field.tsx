import type { Child, FC } from 'hono/jsx'
import { z } from 'zod'
import type { Visibility } from '../../domain/items/visibility.ts'
import { MAX_SHOWN_AGAIN } from '../forms.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { HiddenFields, Options, Submit } from './controls.tsx'

type Choices = readonly (readonly [value: string, label: string])[]

export interface FieldProps {
  readonly sent: PageRequest['sent']
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'password' | 'email' | 'url' | 'number' | 'date' | 'color'
  /** The value until something else was typed. */
  readonly value?: string | null | undefined
  readonly hint?: string | undefined
  readonly rows?: number
  readonly maxlength?: number
  readonly autocomplete?: string
  readonly isRequired?: boolean
  readonly placeholder?: string
  /** The choices, instead of a text. */
  readonly options?: Choices | undefined
  /** More of them, below a name each. */
  readonly groups?: readonly (readonly [name: string, options: Choices])[]
  /** The form it is of, where a page has several: part of its id. */
  readonly form?: string
  /** The id of a `<datalist>` that completes it. */
  readonly list?: string
  /** Where people begin on this page. */
  readonly isFirst?: boolean
  /** Marks the text that a script previews. */
  readonly 'data-source'?: string
}

/** The fault of a field of the form that was sent, or null. */
export function faultOf(sent: PageRequest['sent'], name: string): string | null {
  const detail = sent?.fault.details.find(({ path }) => path === name || path.startsWith(`${name}[`) || path.startsWith(`${name}.`))
  return detail?.message ?? null
}

/** Whether the form that was sent has its first fault at this field: it gets the focus. */
function isFirstFault(sent: PageRequest['sent'], name: string): boolean {
  return sent?.fault.details[0]?.path.split(/[.[]/)[0] === name
}

/** The value of a field: as it was sent, passwords left out, or as it stands. */
export function sentOr(sent: PageRequest['sent'], name: string, value: string | null | undefined): string {
  return sent?.form.has(name) ? sent.form.text(name) : (value ?? '')
}

/** A labelled field that keeps what was typed or chosen, and says what is wrong with it. */
export const Field: FC<FieldProps> = (props) => {
  const { sent, name, label, type = 'text', value, hint, rows, isRequired, isFirst, form, options, groups = [], ...more } = props
  const found = faultOf(sent, name)
  // Operations name a field as programs do.
  const fault = found?.startsWith(`${name} `) ? `${label}${found.slice(name.length)}` : found
  const id = toId(name, form)
  const described = [hint ? `${id}-hint` : '', fault ? `${id}-fault` : ''].filter((text) => text !== '').join(' ')
  const shared = {
    id: `field-${id}`,
    name,
    required: isRequired,
    autofocus: sent ? isFirstFault(sent, name) : isFirst,
    'aria-invalid': fault ? ('true' as const) : undefined,
    'aria-describedby': described || undefined,
    ...more,
  }
  const held = sentOr(sent, name, value)
  const shown = type === 'password' || held.length > MAX_SHOWN_AGAIN ? '' : held
  return (
    <div class="field">
      <label for={`field-${id}`}>{label}</label>
      {options ? (
        <select {...shared}>
          <Options of={options} chosen={held} />
          {groups.map(([group, grouped]) => (
            <optgroup label={group}>
              <Options of={grouped} chosen={held} />
            </optgroup>
          ))}
        </select>
      ) : rows === undefined ? (
        <input type={type} value={shown} {...shared} />
      ) : (
        // A line feed right after the tag is dropped by browsers: one is given for it.
        <textarea rows={rows} {...shared}>{`\n${shown}`}</textarea>
      )}
      <Below id={id} hint={hint} fault={fault} />
    </div>
  )
}

/** The part that the ids of a field have in common; `form` where its page has several. */
function toId(name: string, form?: string): string {
  return form === undefined ? name : `${form}-${name}`
}

/** The texts below a field: its hint and its fault. */
export const Below: FC<{ id: string; hint?: Child; fault?: string | null }> = ({ id, hint, fault }) => (
  <>
    {hint ? (
      <p class="quiet" id={`${id}-hint`}>
        {hint}
      </p>
    ) : null}
    {fault ? (
      <p class="fault" id={`${id}-fault`}>
        {fault}
      </p>
    ) : null}
  </>
)

/**
 * The fault of the form that was sent, above it. Where fields say it already, it leads to them: `labels` by their names.
 * `fields` are such fields without a label to lead to.
 */
export const Fault: FC<{
  sent: PageRequest['sent']
  fields?: readonly string[]
  labels?: Readonly<Record<string, string>>
  words: Pick<Site['words'], 'lookAtFields' | 'fixFields'>
  /** The form they are of, where a page has several. */
  form?: string
}> = ({ sent, fields = [], labels = {}, words, form }) => {
  if (!sent) return null
  const { details, message } = sent.fault
  const faulty = [...new Set(details.map(({ path }) => path.split(/[.[]/)[0] ?? ''))]
  const isLinked = faulty.length > 0 && faulty.every((name) => Object.hasOwn(labels, name))
  const isAtFields = faulty.length > 0 && faulty.every((name) => fields.includes(name))
  return (
    <p class="fault notice" role="alert">
      {isLinked ? (
        <>
          {words.fixFields(faulty.length)}{' '}
          {faulty.map((name, index) => (
            <>
              {index === 0 ? '' : ', '}
              <a href={`#field-${toId(name, form)}`}>{labels[name]}</a>
            </>
          ))}
          .
        </>
      ) : isAtFields ? (
        words.lookAtFields
      ) : (
        message
      )}
    </p>
  )
}

/** Says that something went wrong. */
export const Alert: FC<{ text: Child }> = ({ text }) => (
  <p class="fault notice" role="alert">
    {text}
  </p>
)

/** Says what was just done, after a form led here, with the hints that came of it. */
export const Done: FC<{
  words: Site['words']
  query: URLSearchParams
  sent: PageRequest['sent']
  hints?: readonly string[] | null
  baseUrl?: string
  /** Of the item that was saved, for its owner. */
  visibility?: Visibility | null
  /** The action that takes it back. */
  children?: Child
}> = ({ words, query, sent, hints = null, baseUrl = '', visibility = null, children }) => {
  const done = query.get('done') ?? ''
  const messages: Readonly<Record<string, string>> = words.done
  // A paragraph cannot hold a form.
  const Notice = children ? 'div' : 'p'
  return sent || !Object.hasOwn(messages, done) ? null : (
    <Notice class="notice" role="status">
      {done === 'saved' && visibility !== null ? words.savedAs(words.visibilities[visibility]) : messages[done]}
      {hints?.map((hint) => (
        <>
          <br />
          {linkAddresses(hint, baseUrl)}
        </>
      ))}
      {children ? <> {children}</> : null}
    </Notice>
  )
}

/** The hints of the form that led here; null when there are none. */
export function takeHints({ query, takeFlash }: PageRequest): string[] | null {
  return query.has('done') ? takeFlash(z.array(z.string())) : null
}

/** A text with the addresses of this service in parentheses as links. */
function linkAddresses(text: string, baseUrl: string): Child[] {
  return text
    .split(/(?<=\()(https?:\/\/[^\s()]+)(?=\))/)
    .map((piece) => (piece.startsWith(`${baseUrl}/`) ? <a href={new URL(piece).pathname}>{piece}</a> : piece))
}

/** A button that does one thing: a form of its own, which works without a script. */
export const ActionButton: FC<{
  action?: string
  does: string
  values?: Readonly<Record<string, string>>
  class?: string
  label?: string
  isPressed?: boolean
  /** Its label; `children` where that is more than a text. */
  text?: Child
  children?: Child
}> = ({ action, does, values = {}, class: look, label, isPressed, text, children = text }) => (
  <form method="post" action={action} class="inline">
    <HiddenFields values={values} />
    <Submit
      does={does}
      look={look}
      aria-label={label}
      aria-pressed={isPressed === undefined ? undefined : `${isPressed}`}
      text={children}
    />
  </form>
)
