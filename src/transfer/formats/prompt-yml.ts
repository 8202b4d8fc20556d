import { isFields, readFields, textOf } from '../../domain/text/read-fields.ts'
import { AppError } from '../../errors.ts'
import { describeList } from '../foreign-variables.ts'
import { describeUnfiled, type Format, fieldsOf, fromBody, joinConfig, pick, splitConfig, toBody, writeYaml } from './file-prompt.ts'
import { PLAIN } from './templates.ts'

/** The model of a file whose prompt names none: GitHub needs one. */
const STAND_IN = 'openai/gpt-4o'

/** A `.prompt.yml` of GitHub Models (github/gh-models). */
export const promptYml: Format = {
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
  try {
    const read: unknown = typeof text === 'string' ? JSON.parse(text) : undefined
    return isFields(read) && isFields(read['schema']) ? read['schema'] : undefined
  } catch {
    return undefined
  }
}
