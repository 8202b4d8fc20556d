import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../domain/text/json.ts'
import { type Fields, readHead, textOf } from '../../domain/text/yaml.ts'
import type { Variable } from '../../domain/variables/variables.ts'
import { cutLongTags, describeList } from '../foreign-prompts.ts'
import {
  describeUnfiled,
  type FileBody,
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
import { HANDLEBARS, JINJA, type Token } from './templates.ts'

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
    const { messages, remarks: roles } = dotpromptMessages(HANDLEBARS.read(template))
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
  if (!isObject(output)) return {}
  const { schema, format, ...others } = output
  const isJsonSchema =
    isObject(schema) &&
    (isObject(schema['properties']) || /^(?:object|array|string|number|integer|boolean)$/.test(textOf(schema['type']) ?? ''))
  if (!isJsonSchema) return { output }
  return { responseSchema: schema, output: pick({ ...others, format: format === 'json' ? undefined : format }) }
}

function dotpromptMessages(tokens: readonly Token[]): { messages: FileMessage[]; remarks: string[] } {
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

/** A line that begins a message. */
const ROLE_LINE = /^[ \t]*(?:#[ \t]*)?(system|user|assistant|developer|tool|function)[ \t]*:[ \t]*\r?$/gim

/** A `.prompty` (microsoft/prompty): read in its first form and in the second, written in the second. */
export const prompty: Format = {
  title: 'Prompty',
  pattern: /\.prompty$/i,
  nameFile: (slug) => `${slug}.prompty`,
  read(text) {
    const { fields, body: template } = readHead(text)
    const { authors, version, base, sample, template: _, ...said } = fields
    const { name, displayName, description, tags, metadata, model, inputs, tools, ...others } = said
    const { tags: metaTags, config, authors: _authors, ...metaRest } = fieldsOf(metadata)
    const { given, defaults } = readInputs(inputs)
    const { body, remarks } = toBody(promptyMessages(template), defaults)
    const { parameters, options, id, ...rest } = isObject(model) ? model : { id: model }
    const { additionalProperties, ...known } = fieldsOf(options)
    const made = joinConfig(
      others,
      pick({ metadata: metaRest, inputs: given }),
      fieldsOf(config),
      fieldsOf(parameters),
      fieldsOf(additionalProperties),
      known,
      { model: textOf(id) ?? nameModel(rest), ...(Array.isArray(tools) ? { tools } : {}) },
    )
    const cut = cutLongTags([tags, metaTags].flat().filter((tag) => typeof tag === 'string'))
    // How a model is reached is no part of a prompt, and often has keys in it.
    const lost = [...Object.keys(pick({ authors, version, base, sample })), ...Object.keys(rest).map((key) => `model.${key}`)]
    const title = textOf(displayName) ?? textOf(name)
    const row = { title, description: textOf(description), tags: cut.tags, ...body, config: made.config }
    return [{ row, remarks: [...remarks, ...made.remarks, ...describeList('left out', lost), ...cut.remarks] }]
  },
  write(prompt) {
    const { messages, variables, leftOut } = fromBody(prompt, JINJA, true)
    const { model, parameters, responseSchema, tools, rest } = splitConfig(prompt.config)
    const { inputs, outputs, metadata, ...others } = rest
    const isLine = messages.some((one) => 'role' in one && one.text.search(ROLE_LINE) !== -1)
    const notes = [
      ...leftOut,
      ...messages.flatMap((one) => ('role' in one ? [] : [`the placeholder ${one.placeholder}`])),
      ...describeUnfiled(prompt, true),
      ...(isLine ? ['that a line such as user: begins no message'] : []),
    ]
    const head = {
      name: prompt.slug,
      displayName: prompt.title,
      ...(prompt.description === null ? {} : { description: prompt.description }),
      ...pick({
        metadata: pick({ ...fieldsOf(metadata), tags: prompt.tags, config: pick({ ...others, responseSchema }) }),
        model: pick({ id: model, options: parameters }),
        inputs: toInputs(variables, fieldsOf(inputs)),
        outputs,
        tools,
      }),
      template: { format: 'jinja2', parser: 'prompty' },
    }
    const texts = messages.flatMap((one) => ('role' in one ? [`${one.role}:\n${one.text}`] : []))
    return { text: `---\n${writeYaml(head, notes)}---\n${texts.join('\n\n')}\n`, leftOut: notes }
  },
}

/** The model that the first form names in how it is reached. */
function nameModel({ configuration }: Fields): string | undefined {
  const reached = fieldsOf(configuration)
  return textOf(reached['azure_deployment']) ?? textOf(reached['name']) ?? textOf(reached['model'])
}

/**
 * Defaults of inputs, and more about each, by name. The first form has an object by name, of values or of objects; the second a
 * list.
 */
function readInputs(inputs: unknown): { readonly given: Fields; readonly defaults: Fields } {
  const list = (Array.isArray(inputs) ? inputs : []).filter(isObject)
  const entries = isObject(inputs) ? Object.entries(inputs) : list.map((one) => [String(one['name']), one] as const)
  const read = entries.map(([name, one]) => {
    const { name: _name, required: _required, default: preset, kind, ...more } = isObject(one) ? one : { sample: one }
    return { name, preset, more: { ...(kind === 'string' ? {} : { kind }), ...more } }
  })
  return {
    given: pick(Object.fromEntries(read.map(({ name, more }) => [name, pick(more)]))),
    defaults: pick(Object.fromEntries(read.map(({ name, preset }) => [name, preset]))),
  }
}

/** The inputs of a file: its variables, and what the config says of them and of others. */
function toInputs(variables: FileBody['variables'], given: Fields): Fields[] {
  const named = new Set(variables.map(({ called }) => called))
  return [
    ...variables.map(({ called, required, default: preset }) => ({
      name: called,
      kind: 'string',
      ...fieldsOf(given[called]),
      ...(required ? { required } : { default: preset }),
    })),
    ...Object.keys(given).flatMap((name) => (named.has(name) ? [] : [{ name, ...fieldsOf(given[name]) }])),
  ]
}

/** Messages begin with a line of their role; what stands before is the system's, and a text without such lines the user's. */
function promptyMessages(template: string): FileMessage[] {
  const marks = [...template.matchAll(ROLE_LINE)]
  const start = template.slice(0, marks[0]?.index).trim()
  const before =
    marks.length === 0 ? [{ role: 'user', tokens: JINJA.read(start) }] : start === '' ? [] : [{ role: 'system', tokens: JINJA.read(start) }]
  return [
    ...before,
    ...marks.map((mark, place) => ({
      role: mark[1] ?? 'user',
      tokens: JINJA.read(template.slice(mark.index + mark[0].length, marks[place + 1]?.index).trim()),
    })),
  ]
}
