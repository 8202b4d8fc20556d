import type { Child, FC } from 'hono/jsx'
import { z } from 'zod'
import type { PageRequest } from '../request.ts'
import { Submit } from './controls.tsx'
import { ActionButton, Below, Fault, Field, type FieldProps, faultOf } from './field.tsx'

/** A field of a form: a list to choose from where it has `options`, else a text. */
type FormField = Omit<FieldProps, 'sent' | 'name'>

interface FormProps {
  readonly request: Pick<PageRequest, 'words' | 'sent'>
  /** The value of its button, by which a page of several forms knows which one was sent. */
  readonly does?: string
  /** The procedure that takes its fields: their limits, and whether they are required, come from its input. */
  readonly of: { readonly input: z.ZodObject }
  readonly fields: Readonly<Record<string, FormField>>
  /** Its id, for fields outside of it. */
  readonly id?: string
  /** The label of its button. */
  readonly submit: string
  readonly action?: string | undefined
  /** Whether its button is what most people came for. Default: true */
  readonly isMain?: boolean
  /** Between the fields and the button. */
  readonly children?: Child
}

/** The form that was sent, for the part of a page that has the button `does`; else null. */
export function sentWith(sent: PageRequest['sent'], ...does: readonly string[]): PageRequest['sent'] {
  return sent && does.includes(sent.form.text('do')) ? sent : null
}

/** A form of one operation, with its faults above it and at its fields. */
export const Form: FC<FormProps> = ({ request, does, of: { input }, fields, submit, action, isMain = true, id, children }) => {
  const { words } = request
  const sent = does === undefined ? request.sent : sentWith(request.sent, does)
  const of = does === undefined ? {} : { form: does }
  const labels = Object.fromEntries(Object.entries(fields).map(([name, { label }]) => [name, label]))
  return (
    <form method="post" action={action} class="fields" id={id}>
      <Fault sent={sent} labels={labels} words={words} {...of} />
      {Object.entries(fields).map(([name, field]) => (
        <Field sent={sent} name={name} {...of} {...(field.options ? {} : limitsOf(input, name))} {...field} />
      ))}
      {children}
      <p>
        <Submit look={isMain ? 'button first' : 'button'} does={does} text={submit} />
      </p>
    </form>
  )
}

/** A box to tick, which stays as it was sent. */
export const Tick: FC<{
  sent: PageRequest['sent']
  name: string
  label: string
  value?: string
  isTicked?: boolean
  isRequired?: boolean
}> = ({ sent, name, label, value = 'true', isTicked = false, isRequired }) => {
  const fault = faultOf(sent, name)
  return (
    <>
      <label class="tick">
        <input
          type="checkbox"
          name={name}
          value={value}
          required={isRequired}
          checked={sent ? sent.form.all(name).includes(value) : isTicked}
          aria-describedby={fault ? `${name}-fault` : undefined}
        />{' '}
        {label}
      </label>
      <Below id={name} fault={fault} />
    </>
  )
}

/** The fields of a JSON schema that forms use. */
const fieldSchema = z.looseObject({
  maxLength: z.number().optional(),
  minLength: z.number().optional(),
  anyOf: z.array(z.looseObject({ maxLength: z.number().optional() })).optional(),
})
const inputSchema = z.looseObject({ properties: z.record(z.string(), fieldSchema), required: z.array(z.string()).default([]) })
const read = new WeakMap<z.ZodObject, z.infer<typeof inputSchema>>()

/** The limits of an input for one of its fields: the longest text, and whether there must be one. */
export function limitsOf(input: z.ZodObject, name: string): { maxlength?: number; isRequired?: boolean } {
  const schema = read.get(input) ?? inputSchema.parse(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }))
  read.set(input, schema)
  const { maxLength, anyOf = [] } = schema.properties[name] ?? {}
  const longest = maxLength ?? Math.max(0, ...anyOf.map((one) => one.maxLength ?? 0))
  return {
    ...(longest > 0 ? { maxlength: longest } : {}),
    ...(schema.required.includes(name) && anyOf.length === 0 ? { isRequired: true } : {}),
  }
}

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
