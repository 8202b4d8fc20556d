import { type Fields, isFields, readFields, textOf } from '../../domain/text/read-fields.ts'
import { AppError } from '../../errors.ts'
import { describeList } from '../foreign-variables.ts'
import { describeUnfiled, type FileMessage, type Format, fieldsOf, fromBody, joinConfig, pick, toBody, writeYaml } from './file-prompt.ts'
import { JINJA } from './templates.ts'

/** The provider of promptfoo that answers the prompt itself. */
const ECHO = 'echo'
/** A prompt that is read from elsewhere. */
const REFERENCE = /^(?:file|langfuse|portkey|exec|https?):\/\/|^[^\s{}]+\.(?:txt|md|json|ya?ml|js|mjs|cjs|ts|py|csv|j2)(?::\w+)?$/

/** A `promptfooconfig.yaml` (promptfoo.dev). The tests of its prompts are in their configs; without any, it gets one whose variables are to be filled in. */
export const promptfoo: Format = {
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
      const fields = isFields(one) ? one : { raw: one }
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
    isFields(one) && Object.keys(one).every((key) => key === 'vars') && Object.values(fieldsOf(one['vars'])).every((value) => value === '')
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
  const id = isFields(first) ? textOf(first['id']) : textOf(first)
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
