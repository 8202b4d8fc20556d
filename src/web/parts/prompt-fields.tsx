import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { MAX_MESSAGES, type Message, ROLES } from '../../domain/prompts/body.ts'
import { tryJson } from '../../domain/text/json.ts'
import { countChanges, takeChanges, toChanges } from '../../domain/text/text-changes.ts'
import { diffTexts } from '../../domain/text/text-diff.ts'
import { convertPlaceholders, findPlaceholders, toPlaceholderChanges } from '../../domain/variables/foreign-notations.ts'
import { AppError, invalidInput } from '../../errors.ts'
import type { Output } from '../../operations/core/procedure.ts'
import { BUILT_IN_IMPROVER, type improvePrompt } from '../../operations/prompts/improve-prompt.ts'
import { type SentForm, toLines } from '../forms.ts'
import type { PageRequest } from '../request.ts'
import type { Words } from '../site.ts'
import { WordChanges } from './changes.tsx'
import { Details, Section, Submit } from './controls.tsx'
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
export const MessageFields: FC<{ request: PageRequest; messages: readonly Message[] }> = ({ request: { words, sent }, messages }) => {
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

export type Improvement = Output<typeof improvePrompt>

/** Most changes that can be chosen one by one. */
const MAX_CHANGES = 100
/** The text that stayed and the changes, as the form keeps them. */
const keptChanges = z.array(z.union([z.string(), z.object({ removed: z.string(), added: z.string() })])).max(2 * MAX_CHANGES + 1)

/** The suggested version, with a box for each of its changes, and the prompts it is based on. */
export const Improved: FC<{ words: Words; before: string; improvement: Improvement }> = ({ words, before, improvement }) => {
  // As fields of a form have it.
  const improved = toLines(convertPlaceholders(improvement.improved))
  const isBuiltIn = improvement.model === BUILT_IN_IMPROVER
  const added = countLines(improvement.improved) - countLines(improvement.original)
  const pieces = diffTexts(before, improved)
  // Half of a placeholder is nothing to keep: each is one change.
  const placeholders = findPlaceholders(improvement.improved)
  const parts = toChanges(diffTexts(before, toLines(improvement.improved))).flatMap((part) =>
    typeof part === 'string' ? toPlaceholderChanges(part, placeholders) : { ...part, added: convertPlaceholders(part.added) },
  )
  const count = countChanges(parts)
  const isChosen = count > 1 && count <= MAX_CHANGES
  return (
    <Section id="improved" title={words.improved}>
      {isChosen ? <p class="quiet">{words.chooseChanges}</p> : null}
      <div class="text">{isChosen ? <Choices words={words} parts={parts} count={count} /> : <WordChanges pieces={pieces} />}</div>
      <textarea name="improved" hidden>{`\n${improved}`}</textarea>
      {isChosen ? (
        <textarea name="changes" hidden>
          {JSON.stringify(parts)}
        </textarea>
      ) : null}
      <p>
        <Submit
          does="use"
          look="button first"
          formnovalidate
          data-some={words.useChanges('{n}', '{count}')}
          data-replaced={words.replacedText}
          data-replaced-some={words.tookChanges('{n}', '{count}')}
          data-undo={words.undo}
          text={words.useImproved}
        />{' '}
        <button class="button" type="button" data-keep hidden>
          {words.keepMine}
        </button>
      </p>
      <p class="quiet">
        {isBuiltIn ? words.addedByRules(added) : words.improvedBy(improvement.model)}
        {placeholders.size === 0 ? null : ` ${words.convertedBlanks(placeholders.size)}`}
        {improvement.inspirations.length === 0 ? null : (
          <>
            {' '}
            {isBuiltIn ? words.similarPrompts : words.learnedFrom}:{' '}
            {improvement.inspirations.map(({ slug, title }, index) => (
              <>
                {index === 0 ? '' : ', '}
                <a href={`/prompts/${slug}`}>{title}</a>
              </>
            ))}
            .
          </>
        )}
      </p>
    </Section>
  )
}

function countLines(text: string): number {
  return text.split('\n').filter((line) => line.trim() !== '').length
}

/** A text with a box at each change; all are ticked. */
const Choices: FC<{ words: Words; parts: ReturnType<typeof toChanges>; count: number }> = ({ words, parts, count }) => {
  let number = 0
  return (
    <>
      {parts.map((part) => {
        if (typeof part === 'string') return part
        number++
        return (
          <label class="change">
            <span>
              <input type="checkbox" name="take" value={String(number - 1)} checked />
            </span>
            <span class="visually-hidden">{words.changeOf(number, count)}</span>
            {/\S/.test(part.removed + part.added) ? null : <small>{words.onlySpaces}</small>}
            {part.removed === '' ? null : <del>{part.removed}</del>}
            {part.added === '' ? null : <ins>{part.added}</ins>}
          </label>
        )
      })}
    </>
  )
}

/** The suggested text of a form, with the changes that are ticked. @throws AppError `invalid_input` for changes no page has sent */
export function readSuggested(form: SentForm, words: Words): string {
  if (!form.has('changes')) return form.text('improved')
  const parts = keptChanges.safeParse(tryJson(form.text('changes')))
  if (!parts.success) throw new AppError('invalid_input', words.errors.unreadableForm)
  return takeChanges(parts.data, new Set(form.all('take').map(Number)))
}
