import { isDeepStrictEqual } from 'node:util'
import { type Fields, isFields, readHead, textOf } from '../../domain/text/read-fields.ts'
import type { Variable } from '../../domain/variables/variables.ts'
import {
  describeUnfiled,
  type FileMessage,
  type Format,
  fieldsOf,
  fromBody,
  joinConfig,
  pick,
  splitConfig,
  toBody,
  writeYaml,
} from './file-prompt.ts'
import { HANDLEBARS, type Token } from './templates.ts'

const HISTORY = 'history'
/** The title of a prompt, in the form that dotprompt has for fields of others. */
const TITLE = 'commonplace.title'

/** A `.prompt` of dotprompt (google/dotprompt). */
export const dotprompt: Format = {
  title: 'dotprompt',
  pattern: /\.prompt$/i,
  nameFile: (slug) => `${slug}.prompt`,
  read(text) {
    const { fields, body: template } = readHead(text)
    const { [TITLE]: title, name, description, model, config, input, output, tools, toolDefs, version, ...others } = fields
    const { default: given, schema, ...inputs } = fieldsOf(input)
    const { messages, remarks: roles } = toMessages(HANDLEBARS.read(template))
    const { body, variables, remarks } = toBody(messages, fieldsOf(given))
    const made = joinConfig(others, fieldsOf(config), {
      model,
      input: pick({ ...inputs, schema: isDeepStrictEqual(schema, toSchema(variables)) ? undefined : schema }),
      ...readOutput(output),
      tools: [...(Array.isArray(tools) ? tools : []), ...(Array.isArray(toolDefs) ? toolDefs : [])],
    })
    const row = { title: textOf(title) ?? textOf(name), description: textOf(description), ...body, config: isEmpty(made.config) }
    return [{ row, remarks: [...roles, ...remarks, ...made.remarks, ...(version === undefined ? [] : ['left out: version'])] }]
  },
  write(prompt) {
    const { messages, variables, leftOut } = fromBody(prompt, HANDLEBARS, true)
    const { model, parameters, responseSchema, tools, rest } = splitConfig(prompt.config)
    const { input, output, ...others } = rest
    const all = Array.isArray(tools) ? tools : []
    const placeholders = messages.flatMap((one) => ('placeholder' in one ? [one.placeholder] : []))
    const notes = [
      ...leftOut,
      ...placeholders.flatMap((name, place) =>
        place > 0 ? [`the placeholder ${name}`] : name === HISTORY ? [] : [`the name of the placeholder ${name}`],
      ),
      ...describeUnfiled(prompt),
    ]
    const defaults = Object.fromEntries(variables.flatMap((one) => (one.default === undefined ? [] : [[one.name, one.default]])))
    const dotted = (isDotted: boolean) => Object.fromEntries(Object.entries(others).filter(([key]) => key.includes('.') === isDotted))
    const head = {
      name: prompt.slug,
      [TITLE]: prompt.title,
      ...(prompt.description === null ? {} : { description: prompt.description }),
      ...pick({
        model,
        config: { ...parameters, ...dotted(false) },
        input: pick({ schema: toSchema(variables), ...fieldsOf(input), default: defaults }),
        output: pick({
          ...(responseSchema === undefined ? {} : { format: 'json' }),
          ...fieldsOf(output),
          ...(responseSchema === undefined ? {} : { schema: responseSchema }),
        }),
        tools: all.filter((tool) => typeof tool === 'string'),
        toolDefs: all.filter((tool) => typeof tool !== 'string'),
        ...dotted(true),
      }),
    }
    let histories = 0
    const texts = messages.flatMap((one) => {
      if ('placeholder' in one) return histories++ === 0 ? ['{{history}}'] : []
      const text = one.text
      return prompt.messages === null ? [text] : [`{{role "${one.role === 'assistant' ? 'model' : one.role}"}}\n${text}`]
    })
    return { text: `---\n${writeYaml(head, notes)}---\n${texts.join('\n\n')}\n`, leftOut: notes }
  },
}

/** A config without what is empty; null where nothing is left. */
function isEmpty(config: Fields | null): Fields | null {
  const left = pick(config ?? {})
  return Object.keys(left).length === 0 ? null : left
}

/** A JSON Schema is the schema of the answer; Picoschema, the short form of dotprompt, stays as it is. */
function readOutput(output: unknown): Fields {
  if (!isFields(output)) return {}
  const { schema, format, ...others } = output
  const isJsonSchema =
    isFields(schema) &&
    (isFields(schema['properties']) || /^(?:object|array|string|number|integer|boolean)$/.test(textOf(schema['type']) ?? ''))
  if (!isJsonSchema) return { output }
  return { responseSchema: schema, output: pick({ ...others, format: format === 'json' ? undefined : format }) }
}

function toMessages(tokens: readonly Token[]): { messages: FileMessage[]; remarks: string[] } {
  const messages: FileMessage[] = []
  const remarks = new Set<string>()
  let role = 'user'
  let own: Token[] = []
  const flush = () => {
    const trimmed = trim(own)
    if (trimmed.length > 0) messages.push({ role, tokens: trimmed })
    own = []
  }
  for (const token of tokens) {
    if ('role' in token) {
      flush()
      role = token.role
      if (!token.isBare) remarks.add('left out: metadata of roles')
    } else if ('history' in token) {
      flush()
      const isFirst = !messages.some((one) => 'placeholder' in one)
      if (isFirst) messages.push({ placeholder: HISTORY })
      else remarks.add('left out: a second history')
      role = 'model'
    } else own.push(token)
  }
  flush()
  return { messages: messages.length > 0 ? messages : [{ role, tokens: [] }], remarks: [...remarks] }
}

/** Tokens without blank space around them. */
function trim(tokens: readonly Token[]): Token[] {
  const kept = tokens.filter((token) => !('text' in token) || token.text !== '')
  while (kept[0] && 'text' in kept[0] && kept[0].text.trim() === '') kept.shift()
  for (let last = kept.at(-1); last && 'text' in last && last.text.trim() === ''; last = kept.at(-1)) kept.pop()
  const [first] = kept
  if (first && 'text' in first) kept[0] = { text: first.text.trimStart() }
  const last = kept.at(-1)
  if (last && 'text' in last) kept[kept.length - 1] = { text: last.text.trimEnd() }
  return kept
}

/** The variables in Picoschema. */
function toSchema(variables: readonly Variable[]): Fields {
  return Object.fromEntries(variables.map(({ name, required }) => [required ? name : `${name}?`, 'string']))
}
