import { MAX_TITLE } from '../../domain/items/fields.ts'
import { decodeText, encodingFault } from '../../domain/skills/skill.ts'
import { cutCharacters } from '../../domain/text/characters.ts'
import { isObject, tryJson } from '../../domain/text/json.ts'
import { type Fields, readFields, textOf } from '../../domain/text/yaml.ts'
import { AppError } from '../../errors.ts'
import { describeList } from '../foreign-prompts.ts'
import { type PromptDraft, toRemarkedDraft } from '../prompt-file.ts'
import { faultOf } from '../skill-folder.ts'
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
import { dotprompt, prompty } from './frontmatter-prompts.ts'
import { JINJA, PLAIN } from './templates.ts'

/** The model of a file whose prompt names none: GitHub needs one. */
const STAND_IN = 'openai/gpt-4o'

/** A `.prompt.yml` of GitHub Models (github/gh-models). */
const promptYml: Format = {
  title: 'GitHub Models',
  pattern: /\.prompt\.ya?ml$/i,
  nameFile: (slug) => `${slug}.prompt.yml`,
  read(text) {
    const { name, description, model, modelParameters, responseFormat, jsonSchema, messages, ...others } = readFields(text)
    if (!Array.isArray(messages) || messages.length === 0) throw new AppError('invalid_input', 'has no list "messages"')
    const { body, remarks } = toBody(
      messages.map((one: unknown, place) => {
        const { role, content } = fieldsOf(one)
        if (typeof content !== 'string') throw new AppError('invalid_input', `messages.${place} has no text "content"`)
        return { role: textOf(role) ?? 'user', tokens: PLAIN.read(content) }
      }),
    )
    const schema = readJsonSchema(jsonSchema)
    const config = joinConfig(others, fieldsOf(modelParameters), {
      model,
      ...(schema === undefined
        ? { responseFormat: responseFormat === 'text' ? undefined : responseFormat, jsonSchema }
        : { responseSchema: schema }),
    })
    const row = { title: textOf(name), description: textOf(description), ...body, config: config.config }
    return [{ row, remarks: [...remarks, ...config.remarks] }]
  },
  write(prompt) {
    const { messages, variables, leftOut } = fromBody(prompt, PLAIN)
    const { model, parameters, responseSchema, tools, rest } = splitConfig(prompt.config)
    const { testData, evaluators, responseFormat, jsonSchema, ...others } = rest
    const camel = Object.fromEntries(
      Object.entries(parameters).map(([key, value]) => [key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), value]),
    )
    const renamed = Object.keys(parameters).filter((key) => key.includes('_'))
    const notes = [
      ...leftOut,
      ...messages.flatMap((one) => ('role' in one ? [] : [`the placeholder ${one.placeholder}`])),
      ...describeList(
        'defaults of',
        variables.filter(({ required }) => !required).map(({ name }) => name),
      ),
      ...describeList('config', Object.keys(pick({ ...others, tools }))),
      ...describeList('config, here in camel case', renamed),
      ...(model === undefined ? [`that no model is named: ${STAND_IN} stands in`] : []),
      ...describeUnfiled(prompt),
    ]
    const fields = {
      name: prompt.title,
      ...(prompt.description === null ? {} : { description: prompt.description }),
      model: model ?? STAND_IN,
      modelParameters: camel,
      ...pick(
        responseSchema === undefined
          ? { responseFormat, jsonSchema }
          : { responseFormat: 'json_schema', jsonSchema: JSON.stringify({ name: prompt.slug, schema: responseSchema }, null, 2) },
      ),
      messages: messages.flatMap((one) => ('role' in one ? [{ role: one.role, content: one.text }] : [])),
      ...pick({ testData, evaluators }),
    }
    return { text: writeYaml(fields, notes), leftOut: notes }
  },
}

/** The schema in the JSON text that the format has; undefined for another. */
function readJsonSchema(text: unknown): unknown {
  const read = typeof text === 'string' ? tryJson(text) : undefined
  return isObject(read) && isObject(read['schema']) ? read['schema'] : undefined
}

/** The provider of promptfoo that answers the prompt itself. */
const ECHO = 'echo'
/** A prompt that is read from elsewhere. */
const REFERENCE = /^(?:file|langfuse|portkey|exec|https?):\/\/|^[^\s{}]+\.(?:txt|md|json|ya?ml|js|mjs|cjs|ts|py|csv|j2)(?::\w+)?$/

/** A `promptfooconfig.yaml` (promptfoo.dev). The tests of its prompts are in their configs; without any, it gets one whose variables are to be filled in. */
const promptfoo: Format = {
  title: 'promptfoo',
  pattern: /(?:^|[/.])promptfooconfig\.ya?ml$/i,
  nameFile: () => 'promptfooconfig.yaml',
  read(text) {
    const { description, prompts, providers, targets, defaultTest, tests, ...others } = readFields(text)
    const list = typeof prompts === 'string' ? [prompts] : prompts
    if (!Array.isArray(list) || list.length === 0) throw new AppError('invalid_input', 'has no list "prompts"')
    const vars = fieldsOf(fieldsOf(defaultTest)['vars'])
    const model = readProvider(providers ?? targets)
    const cases = isSkeleton(tests) ? {} : pick({ defaultTest, tests })
    const lost = describeList('left out', Object.keys(pick(others)))
    const isOne = list.length === 1
    return list.map((one: unknown, place) => {
      const fields = isObject(one) ? one : { raw: one }
      const raw = textOf(fields['raw']) ?? textOf(fields['id'])
      if (raw === undefined) return { fault: `prompts.${place} has no text` }
      if (REFERENCE.test(raw)) return { fault: `is in another file, ${raw.slice(0, 80)}: import that one` }
      const { body, remarks } = toBody(toMessages(raw), pickUsed(vars, raw))
      const parts = [model, fieldsOf(fields['config'])]
      const whole = joinConfig(...parts, cases)
      // Tests that find no room in a config are set apart from it.
      const hasRoom = whole.remarks.length === 0
      const made = hasRoom ? whole : joinConfig(...parts)
      const label = textOf(fields['label'])
      return {
        row: {
          title: label ?? (isOne ? textOf(description) : undefined) ?? raw.slice(0, 60).split('\n', 1)[0],
          description: label !== undefined && isOne ? textOf(description) : undefined,
          ...body,
          config: made.config,
        },
        remarks: [
          ...remarks,
          ...made.remarks,
          ...(hasRoom ? [] : ['left out: its tests, which are too large for a config. Set them with set_cases']),
          ...lost,
        ],
      }
    })
  },
  write(prompt) {
    const { messages, variables, leftOut } = fromBody(prompt, JINJA)
    const { model, tests, defaultTest, ...config } = prompt.config ?? {}
    const isModel = typeof model === 'string'
    const written = messages.flatMap((one) => ('role' in one ? [{ role: one.role, content: one.text }] : []))
    const notes = [
      ...leftOut,
      ...messages.flatMap((one) => ('role' in one ? [] : [`the placeholder ${one.placeholder}`])),
      ...(model === undefined || isModel ? [] : ['config: model']),
      ...describeUnfiled(prompt),
    ]
    const defaults = Object.fromEntries(variables.flatMap((one) => (one.default === undefined ? [] : [[one.called, one.default]])))
    const required = Object.fromEntries(variables.flatMap((one) => (one.required ? [[one.called, '']] : [])))
    const fields = {
      ...(prompt.description === null ? {} : { description: prompt.description }),
      prompts: [
        {
          label: prompt.title,
          raw: prompt.messages === null ? (written[0]?.content ?? '') : JSON.stringify(written, null, 2),
          ...pick({ config }),
        },
      ],
      providers: [isModel ? model : ECHO],
      ...pick({ defaultTest: defaultTest ?? pick({ vars: defaults }) }),
      tests: Array.isArray(tests) ? tests : [{ vars: required }],
    }
    return { text: writeYaml(fields, notes), leftOut: notes }
  },
}

/** Tests that only name the variables, as `write` writes them. */
function isSkeleton(tests: unknown): boolean {
  const isBare = (one: unknown) =>
    isObject(one) && Object.keys(one).every((key) => key === 'vars') && Object.values(fieldsOf(one['vars'])).every((value) => value === '')
  return tests === undefined || (Array.isArray(tests) && tests.every(isBare))
}

/** Defaults of this prompt, of those that are for all. */
function pickUsed(vars: Fields, raw: string): Fields {
  const used = new Set(JINJA.read(raw).flatMap((token) => ('name' in token ? [token.name] : [])))
  return Object.fromEntries(Object.entries(vars).filter(([name]) => used.has(name)))
}

/** Model and parameters of the first provider. */
function readProvider(providers: unknown): Fields {
  const first: unknown = Array.isArray(providers) ? providers[0] : providers
  const id = isObject(first) ? textOf(first['id']) : textOf(first)
  return { ...fieldsOf(fieldsOf(first)['config']), model: id === ECHO ? undefined : id }
}

/** A prompt that is a list of messages as JSON has the messages of a chat. */
function toMessages(raw: string): FileMessage[] {
  const text = { role: 'user', tokens: JINJA.read(raw) }
  if (!raw.trimStart().startsWith('[')) return [text]
  try {
    const list: unknown = JSON.parse(raw)
    if (!Array.isArray(list) || list.length === 0) return [text]
    const messages = list.flatMap((one: unknown) => {
      const { role, content } = fieldsOf(one)
      return typeof content === 'string' ? [{ role: textOf(role) ?? 'user', tokens: JINJA.read(content) }] : []
    })
    return messages.length === list.length ? messages : [text]
  } catch {
    return [text]
  }
}

/** Formats by the last segment of the address of their file. */
export const FORMATS = {
  'prompt.yml': promptYml,
  'prompt.prompt': dotprompt,
  'prompt.prompty': prompty,
  'promptfooconfig.yaml': promptfoo,
} as const satisfies Readonly<Record<string, Format>>

export type FormatName = keyof typeof FORMATS

/** The format of a file of another tool, by its name; undefined for none. */
export function findFormat(filename: string): FormatName | undefined {
  return (Object.keys(FORMATS) as FormatName[]).find((name) => FORMATS[name].pattern.test(filename))
}

/** An entry of a file: its draft, or why there is none. */
type FormatEntry = { readonly name: string } & ({ readonly draft: PromptDraft } | { readonly fault: string })

/** The prompts in a file of another tool. */
export function readFormat(filename: string, format: FormatName, bytes: Uint8Array): FormatEntry[] {
  const text = decodeText(bytes)
  if (text === null) return [{ name: filename, fault: encodingFault(bytes) }]
  const base = (filename.split('/').at(-1) ?? filename).replace(FORMATS[format].pattern, '').replaceAll(/[-_]+/g, ' ').trim()
  try {
    const read = FORMATS[format].read(text)
    return read.map((one, place) => {
      const name = read.length > 1 ? `${filename}, ${place + 1}` : filename
      if ('fault' in one) return { name, fault: one.fault }
      const { row, remarks } = one
      const title = cutCharacters((typeof row['title'] === 'string' ? row['title'].trim() : '') || base || 'Prompt', MAX_TITLE)
      return { name, ...toRemarkedDraft({ ...row, title }, remarks) }
    })
  } catch (error) {
    return [{ name: filename, fault: faultOf(error) }]
  }
}
