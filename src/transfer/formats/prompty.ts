import { type Fields, isFields, readHead, textOf } from '../../domain/text/read-fields.ts'
import { cutLongTags, describeList } from '../foreign-variables.ts'
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
import { JINJA } from './templates.ts'

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
    const { body, remarks } = toBody(toMessages(template), defaults)
    const { parameters, options, id, ...rest } = isFields(model) ? model : { id: model }
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
  const list = (Array.isArray(inputs) ? inputs : []).filter(isFields)
  const entries = isFields(inputs) ? Object.entries(inputs) : list.map((one) => [String(one['name']), one] as const)
  const read = entries.map(([name, one]) => {
    const { name: _name, required: _required, default: preset, kind, ...more } = isFields(one) ? one : { sample: one }
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
function toMessages(template: string): FileMessage[] {
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
