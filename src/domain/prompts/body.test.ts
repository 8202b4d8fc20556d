import { describe, expect, it } from 'vitest'
import { fillVariables, meansOtherwise, parseVariables, toPresentSyntax } from '../variables/variables.ts'
import { changeBody, fillBody, type Message, makeBody, messagesField, toMcpMessages, variablesOf } from './body.ts'
import { compareConfigs, configField, schemasIn } from './config.ts'

const CHAT: readonly Message[] = [
  { role: 'system', content: 'Be ${tone:kind}.' },
  { type: 'placeholder', name: 'history' },
  { role: 'user', content: 'Ask { ${question}' },
  { role: 'assistant', content: 'Yes }' },
]

describe('the syntax of texts', () => {
  const values = new Map([['name', 'Ada']])
  it.each([
    ['\\${name}', '${name}'],
    ['\\\\${name}', '\\Ada'],
    ['\\\\\\${name}', '\\${name}'],
    ['$${name}', '$Ada'],
    ['a\\b \\n ${name}', 'a\\b \\n Ada'],
    ['\\${1+1} \\${', '\\${1+1} \\${'],
    ['\\${> greeting}', '${> greeting}'],
    ['${name}\\${name:x}${name}', 'Ada${name:x}Ada'],
  ])('%j says %j', (text, said) => {
    expect(fillVariables(text, values).text).toBe(said)
    expect(
      parseVariables(text)
        .segments.map(({ raw }) => raw)
        .join(''),
    ).toBe(text)
  })

  it('reads earlier texts as they were read, and writes them so that they mean the same', () => {
    for (const text of ['\\${name}', 'a\\\\${name}', '${> x} \\${> y}', '\\${> z} \\${name:d}', 'plain ${name}']) {
      const before = fillVariables(text, values, 1).text
      expect(before, text).toBe(text.replaceAll(/\$\{name(?::d)?\}/g, 'Ada'))
      expect(fillVariables(toPresentSyntax(text), values).text, text).toBe(before)
      expect(meansOtherwise(text)).toBe(text !== 'plain ${name}')
    }
  })

  it('knows the parts of a text', () => {
    const { segments, variables } = parseVariables('${> hello} ${> bye@2}${> x@production } ${>} ${> a b}')
    expect(segments.flatMap((one) => (one.kind === 'part' ? [[one.ref, one.at]] : []))).toEqual([
      ['hello', null],
      ['bye', '2'],
      ['x', 'production'],
    ])
    expect(variables).toEqual([])
  })
})

describe('messages', () => {
  it('have the variables of each, and are filled each by itself', () => {
    const body = makeBody({ messages: CHAT })
    expect(variablesOf(body).map(({ name }) => name)).toEqual(['tone', 'question'])
    const { messages, unfilled, text } = fillBody(body, new Map([['tone', 'brief']]))
    expect(messages?.[0]).toEqual({ role: 'system', content: 'Be brief.' })
    expect([unfilled, text]).toEqual([['question'], expect.stringContaining('# Placeholder: history')])
  })

  it('are of the user and the assistant alone for MCP', () => {
    expect(toMcpMessages(CHAT)).toEqual([
      { role: 'user', text: 'Be ${tone:kind}.\n\nAsk { ${question}' },
      { role: 'assistant', text: 'Yes }' },
    ])
    expect(toMcpMessages([{ role: 'system', content: 'Only' }])).toEqual([{ role: 'user', text: 'Only' }])
    expect(toMcpMessages([{ type: 'placeholder', name: 'x' }])).toEqual([{ role: 'user', text: '' }])
  })

  it.each([
    [[], 'Too small'],
    [Array.from({ length: 101 }, () => CHAT[0]), 'the limit is 100'],
    [[{ role: 'tool', content: '' }], 'Invalid'],
    [[...CHAT, { type: 'placeholder', name: 'tone' }], 'is the name of a variable too'],
    [[{ type: 'placeholder', name: '1x' }], 'is no name of a placeholder'],
    [Array.from({ length: 3 }, () => ({ role: 'user', content: 'x'.repeat(90_000) })), 'characters in all'],
  ])('refuse what cannot be kept', (messages, reason) => {
    expect(messagesField.safeParse(messages).error?.message).toContain(reason)
  })

  it('stay messages, as a text stays a text', () => {
    const [chat, text] = [makeBody({ messages: CHAT }), makeBody({ content: 'a' })]
    expect(() => changeBody(chat, { content: 'b' })).toThrow('change its messages')
    expect(() => changeBody(chat, { messages: null })).toThrow('stays one')
    expect(() => changeBody(text, { messages: CHAT })).toThrow('is a text')
    expect(() => makeBody({})).toThrow('content or messages')
    expect(changeBody(chat, { content: chat.content, config: { model: 'm' } })).toMatchObject({ messages: CHAT, config: { model: 'm' } })
  })

  it('of an earlier text keep their syntax until the text changes', () => {
    const before = makeBody({ content: 'a \\${b}', syntax: 1 })
    expect(changeBody(before, { content: 'a \\${b}' }).syntax).toBe(1)
    expect(changeBody(before, { content: 'c \\${b}' }).syntax).toBe(2)
  })
})

describe('a config', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) })
  it.each([
    [[], 'must be a JSON object'],
    [{ a: 'x'.repeat(16 * 1024 - 8 + 1) }, 'the limit is 16384'],
    [JSON.parse('{"a":{"__proto__":1}}'), '__proto__'],
    [nested(100), 'nested more than'],
    [{ a: 'x\0' }, 'cannot be stored'],
    [{ a: Number.POSITIVE_INFINITY }, 'cannot hold'],
  ])('is refused where it cannot be kept', (config, reason) => {
    expect(configField.safeParse(config).error?.message).toContain(reason)
  })

  it('of 16 KiB is kept, and its schemas are found', () => {
    expect(configField.safeParse({ a: 'x'.repeat(16 * 1024 - 8) }).success).toBe(true)
    const schema = { type: 'object' }
    const config = {
      responseSchema: schema,
      response_format: { json_schema: { schema } },
      tools: [{ function: { parameters: schema } }, { input_schema: schema }, 'search'],
    }
    expect([...schemasIn(config).keys()]).toEqual([
      'responseSchema',
      'response_format.json_schema.schema',
      'tools[0].function.parameters',
      'tools[1].input_schema',
    ])
  })

  it('is compared key by key', () => {
    expect(compareConfigs({ a: 1, b: [1], c: 2 }, { a: 1, b: [2], d: null })).toEqual([
      { key: 'b', before: '[\n  1\n]', after: '[\n  2\n]' },
      { key: 'c', before: '2', after: null },
      { key: 'd', before: null, after: 'null' },
    ])
  })
})
