import type { FC } from 'hono/jsx'
import { MAX_MESSAGES, type Message, ROLES } from '../../domain/prompts/messages.ts'
import { invalidInput } from '../../errors.ts'
import type { SentForm } from '../forms.ts'
import type { PageRequest } from '../request.ts'
import { Details, Submit } from './controls.tsx'
import { Field } from './field.tsx'

const PLACEHOLDER = 'placeholder'
const PLACES = Array.from({ length: MAX_MESSAGES }, (_, place) => place)

/** The names of all fields of messages. */
export const MESSAGE_FIELDS = PLACES.flatMap((place) => [`role.${place}`, `text.${place}`])

/** Whether a form is that of a chat prompt. */
export function hasMessages(form: SentForm): boolean {
  return form.has('text.0')
}

/** The messages of a form; empty ones are left out. @throws AppError `invalid_input` for an unknown role */
export function readMessages(form: SentForm): Message[] {
  return PLACES.flatMap((place): Message[] => {
    const text = form.text(`text.${place}`)
    if (text.trim() === '') return []
    const role = form.choice(`role.${place}`, [...ROLES, PLACEHOLDER])
    return [role === PLACEHOLDER ? { type: PLACEHOLDER, name: text.trim() } : { role, content: text }]
  })
}

/** A field for the role and one for the text of each message, and of one more. */
export const MessageFields: FC<{ request: PageRequest; messages: readonly Message[] }> = ({ request: { site, sent }, messages }) => {
  const { words } = site
  const { chat } = words
  const isSent = sent !== null && hasMessages(sent.form)
  const last = isSent ? PLACES.findLastIndex((place) => sent.form.text(`text.${place}`).trim() !== '') : messages.length - 1
  const roles = [...ROLES, PLACEHOLDER] as const
  return (
    <fieldset class="messages">
      <legend>{chat.messages}</legend>
      <p class="quiet">{chat.help}</p>
      {PLACES.slice(0, last + 2).map((place) => {
        const one = messages[place]
        return (
          <div class="message">
            <Field
              sent={sent}
              name={`role.${place}`}
              label={chat.role(place + 1)}
              value={one ? ('role' in one ? one.role : PLACEHOLDER) : 'user'}
              options={roles.map((role) => [role, chat.roles[role]])}
            />
            <Field
              sent={sent}
              name={`text.${place}`}
              label={chat.text(place + 1)}
              value={one ? ('role' in one ? one.content : one.name) : ''}
              rows={one && 'role' in one ? 6 : 3}
            />
          </div>
        )
      })}
      <Submit does="more" formnovalidate text={chat.more} />
    </fieldset>
  )
}

/** The config of a form; null where it is empty. @throws AppError `invalid_input` where it is no JSON */
export function readConfig(form: SentForm): unknown {
  const text = form.text('config').trim()
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidInput('config', `config is no JSON: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

/** The config of a prompt, folded away where there is none. */
export const ConfigField: FC<{ request: PageRequest; config: object | null }> = ({ request: { site, sent }, config }) => (
  <Details open={config !== null || (sent?.form.text('config') ?? '') !== ''} summary={site.words.chat.config}>
    <Field
      sent={sent}
      name="config"
      label={site.words.chat.json}
      value={config === null ? '' : JSON.stringify(config, null, 2)}
      rows={8}
      hint={site.words.chat.configHint}
    />
  </Details>
)
