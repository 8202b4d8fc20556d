import { describe, expect, it } from 'vitest'
import { findRealData, STARTER } from '../../../test/support/real-data.ts'
import { type PromptBody, variablesOf } from '../../domain/prompts/body.ts'
import { fillVariables, parseVariables } from '../../domain/variables/variables.ts'
import { type PromptDraft, readPromptFile } from '../prompt-file.ts'
import { FORMATS, type FormatName, findFormat, readFormat } from './formats.ts'

const NAMES = Object.keys(FORMATS) as FormatName[]
const EMPTY = { slug: 'a-prompt', title: 'A prompt', description: null, tags: [] }
const textBody = (content: string, config: PromptBody['config'] = null): PromptBody => ({ content, messages: null, config, syntax: 2 })
const utf8 = new TextEncoder()

function read(format: FormatName, text: string): PromptDraft {
  const [entry] = readFormat(FORMATS[format].nameFile('a'), format, utf8.encode(text))
  if (!entry || 'fault' in entry) throw new Error(entry?.fault ?? 'nothing was read')
  return entry.draft
}

function faultOf(format: FormatName, text: string): string | null {
  const [entry] = readFormat(FORMATS[format].nameFile('a'), format, utf8.encode(text))
  return entry && 'fault' in entry ? entry.fault : null
}

/** What a text means, whatever its spelling: what it says, and its variables in their places. */
function meaningOf(text: string, syntax: PromptBody['syntax']): string[] {
  const pieces: string[] = []
  let isText = false
  for (const segment of parseVariables(text, syntax).segments) {
    const said = segment.kind === 'text' ? segment.text : segment.raw
    if (segment.kind === 'variable') pieces.push(`<${segment.name}>`)
    else if (isText) pieces.push(`${pieces.pop()}${said}`)
    else pieces.push(said)
    isText = segment.kind !== 'variable'
  }
  return pieces
}

const meaning = (body: PromptBody) => ({
  texts: (body.messages ?? [{ role: 'user' as const, content: body.content }]).map((one) =>
    'role' in one ? [one.role, ...meaningOf(one.content, body.syntax)] : one,
  ),
  variables: variablesOf(body),
  config: body.config,
})

const CONFIG = {
  model: 'openai/gpt-4.1',
  temperature: 0.2,
  maxTokens: 100,
  responseSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
}
const CHAT: PromptBody = {
  ...textBody('', { ...CONFIG, tools: [{ name: 'find', inputSchema: { type: 'object' } }], note: { deep: [1, null, 'a'] } }),
  messages: [
    { role: 'system', content: 'You know ${language:Type{}Script}.' },
    { type: 'placeholder', name: 'history' },
    { role: 'user', content: 'Check \\${language} in ${language} and "quotes".' },
    { role: 'assistant', content: 'A list:\n- one\n- two {${language}}' },
  ],
}

describe('every format', () => {
  it.each(NAMES)('%s: gives a text back, with what it says and its variables', (format) => {
    const texts = [
      'Write to ${who}.',
      'Costs $5 or \\${price}, $${price}; \\\\${price} with ${price} backslashes \\',
      'Braces { ${a} } {a} }{',
      'Two ${a}${b} in a row, and ${ not a variable',
      'Über ${größe} – 日本語 ${名前}',
      'Lines\r\nwith  spaces   \n\n---\nkey: value # no comment\n\t- "x"',
    ]
    for (const text of texts) {
      const body = textBody(text, CONFIG)
      const { text: file } = FORMATS[format].write({ ...EMPTY, ...body })
      expect(meaning(read(format, file)), file).toEqual(meaning(body))
    }
  })

  it.each(NAMES.filter((name) => name !== 'prompt.yml'))('%s: gives braces and defaults back', (format) => {
    for (const text of [
      '{{a}} {{{b}}} {{{{ ${x:one {two}}}} \\{{c}} {{#if}} {% raw %} {# c #} ${x}',
      '{${x:}}{{${y:1}',
      '\\\\{{ ${x:a: b}',
    ]) {
      const body = textBody(text)
      const { text: file } = FORMATS[format].write({ ...EMPTY, ...body })
      const back = read(format, file)
      expect(meaning(back), file).toEqual(meaning(body))
    }
  })

  it('gives messages back, and says what it has no place for', () => {
    const losses: Record<FormatName, string[]> = {
      'prompt.yml': ['the placeholder history', 'defaults of: language', 'config: note, tools'],
      'prompt.prompt': [],
      'prompt.prompty': ['the placeholder history'],
      'promptfooconfig.yaml': ['the placeholder history'],
    }
    for (const format of NAMES) {
      const { text, leftOut } = FORMATS[format].write({ ...EMPTY, ...CHAT })
      expect(leftOut, format).toEqual(losses[format])
      for (const loss of leftOut) expect(text).toContain(`# - ${loss}\n`)
      const back = read(format, text)
      const isCarried = (loss: string) => !leftOut.some((one) => one.startsWith(loss))
      const wanted = meaning({ ...CHAT, messages: (CHAT.messages ?? []).filter((one) => 'role' in one || isCarried('the placeholder')) })
      expect(meaning(back).texts, format).toEqual(wanted.texts)
      if (isCarried('defaults')) expect(meaning(back).variables).toEqual(wanted.variables)
      expect(back.config, format).toEqual(isCarried('config') ? CHAT.config : CONFIG)
    }
  })

  it.each(NAMES)('%s: gives real prompts back', async (format) => {
    let count = 0
    for await (const row of readPromptFile(findRealData()?.promptsFile ?? STARTER.promptsFile)) {
      if ('fault' in row || ++count % 5 !== 0) continue
      const { content, syntax, title, description } = row.draft
      const { text, leftOut } = FORMATS[format].write({ ...EMPTY, title, description, ...textBody(content), syntax })
      const back = read(format, text)
      expect([back.title, back.description], title).toEqual([title.trim(), description || null])
      const wanted = meaning({ ...textBody(leftOut.includes('blank space around its text') ? content.trim() : content), syntax })
      const isLossy = leftOut.some((one) => /^(?:that|the name|defaults)/.test(one))
      if (!isLossy) expect(meaning(back).texts, title).toEqual(wanted.texts)
      if (!isLossy) expect(meaning(back).variables, title).toEqual(wanted.variables)
    }
    expect(count).toBeGreaterThan(5)
  })

  it('keeps a text of the foreign file that looks like a variable here', () => {
    const foreign = 'Run ${HOME}/x, ${a:b}, ${> part}, \\${c} and {{name}}'
    for (const [format, text] of [
      ['prompt.yml', JSON.stringify({ messages: [{ role: 'user', content: foreign }] })],
      ['prompt.prompt', foreign],
      ['prompt.prompty', foreign],
      ['promptfooconfig.yaml', JSON.stringify({ prompts: [foreign] })],
    ] as const) {
      const { content, syntax, remark } = read(format, text)
      expect(syntax).toBe(2)
      expect(remark).toBe('variables: name')
      expect(fillVariables(content, new Map([['name', 'N']])).text).toBe(foreign.replace('{{name}}', 'N'))
    }
  })

  it.each(NAMES)('%s: refuses hostile files with a sentence, and soon', (format) => {
    const isHead = format === 'prompt.prompt' || format === 'prompt.prompty'
    const put = (yaml: string) => (isHead ? `---\n${yaml}\n---\nHi` : yaml)
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...Array.from({ length: 9 }, (_, n) => `k${n}: &k${n} [${`*${n ? `k${n - 1}` : 'a'},`.repeat(9)}]`),
    ]
    const cases: [string, RegExp][] = [
      [put(bomb.join('\n')), /anchors/],
      [put('__proto__:\n  a: 1'), /__proto__/],
      [put(`a: ${'[1,'.repeat(30)}${']'.repeat(30)}`), /nested more than 20 deep/],
      [put(`a: ${'['.repeat(30_000)}`), /tokens|no YAML/],
      [put(Array.from({ length: 6_000 }, (_, n) => `k${n}: 1`).join('\n')), /tokens|limit/],
      [put('a: "x\nb: [}'), /no YAML/],
      [put('- a\n- b'), /no fields/],
      [put('? [a]\n: b'), /keys that are no text/],
      [`---\nname: a\n---\n${'x'.repeat(1_000_000)}`, /the limit is 524288/],
    ]
    for (const [text, fault] of cases) expect(faultOf(format, text), text.slice(0, 60)).toMatch(fault)
    expect(readFormat('a', format, new Uint8Array([0xff, 0xfe, 0xfd]))).toEqual([{ name: 'a', fault: expect.any(String) }])
  })

  it('is told by the name of its file', () => {
    const names = [
      'a.prompt.yml',
      'b/a.prompt.yaml',
      'a.prompt',
      'a.prompty',
      'promptfooconfig.yaml',
      'x/promptfooconfig.yml',
      'a.yml',
      'prompt',
      'a.prompt.md',
    ]
    expect(names.map(findFormat)).toEqual([
      'prompt.yml',
      'prompt.yml',
      'prompt.prompt',
      'prompt.prompty',
      'promptfooconfig.yaml',
      'promptfooconfig.yaml',
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('.prompt.yml of GitHub Models', () => {
  it('is read whole', () => {
    const draft = read(
      'prompt.yml',
      `name: Sum up
description: Short
model: openai/gpt-4o-mini
modelParameters: {temperature: 0.5, maxTokens: 10}
responseFormat: json_schema
jsonSchema: '{"name": "s", "strict": true, "schema": {"type": "object"}}'
messages:
  - {role: system, content: You sum up.}
  - {role: user, content: 'Sum up: {{ input }} {{a.b}}'}
testData: [{input: x}]
evaluators: [{name: e, string: {contains: a}}]
`,
    )
    expect(draft).toMatchObject({ title: 'Sum up', description: 'Short', remark: 'stays as text: {{a.b}}; variables: input' })
    expect(draft.messages).toEqual([
      { role: 'system', content: 'You sum up.' },
      { role: 'user', content: 'Sum up: ${input} {{a.b}}' },
    ])
    expect(draft.config).toEqual({
      testData: [{ input: 'x' }],
      evaluators: [{ name: 'e', string: { contains: 'a' } }],
      temperature: 0.5,
      maxTokens: 10,
      model: 'openai/gpt-4o-mini',
      responseSchema: { type: 'object' },
    })
  })

  it('needs messages with texts', () => {
    expect(faultOf('prompt.yml', 'name: a')).toBe('has no list "messages"')
    expect(faultOf('prompt.yml', 'messages: [{role: user, content: [1]}]')).toBe('messages.0 has no text "content"')
  })
})

/** Cases of dotprompt's own specification (github.com/google/dotprompt, spec/), whose files its package does not have. */
describe('.prompt of dotprompt', () => {
  const messagesOf = (template: string) => {
    const { content, messages } = read('prompt.prompt', template)
    return messages ?? content
  }

  it('reads roles, history and variables as the specification has them', () => {
    expect(messagesOf('Hello, {{name}}!\n')).toBe('Hello, ${name}!')
    expect(messagesOf('{{role "system"}}System\n{{role "user"}}User')).toEqual([
      { role: 'system', content: 'System' },
      { role: 'user', content: 'User' },
    ])
    expect(messagesOf('Before {{role "model"}}Answer')).toEqual([
      { role: 'user', content: 'Before' },
      { role: 'assistant', content: 'Answer' },
    ])
    expect(messagesOf('{{role \'system\'}}S{{history}}After{{role "user"}}Q {{{raw}}} {{this.x}}')).toEqual([
      { role: 'system', content: 'S' },
      { type: 'placeholder', name: 'history' },
      { role: 'assistant', content: 'After' },
      { role: 'user', content: 'Q ${raw} ${x}' },
    ])
    expect(read('prompt.prompt', '{{role "user" purpose="x"}}A{{media url=pic}}{{section "code"}}').remark).toBe(
      'left out: metadata of roles; left out: media, section',
    )
  })

  it('reads fields, and writes defaults into the text', () => {
    const draft = read(
      'prompt.prompt',
      `---
model: googleai/gemini-2.5-flash
config: {temperature: 0.7}
input:
  schema: {name: string, 'count?': integer}
  default: {name: Guest, count: 3, gone: 1}
output: {format: json, schema: {title: string}}
tools: [search]
toolDefs: [{name: find, inputSchema: {type: object}}]
myext.key: 1
---
Hello {{name}}, {{count}} times. {{#if name}}x{{else}}y{{/if}}{{! a comment }}{{>part}}
`,
    )
    expect(draft.title).toBe('a')
    expect(draft.content).toBe('Hello ${name:Guest}, ${count:3} times. {{#if name}}x{{else}}y{{/if}}{{>part}}')
    expect(draft.remark).toBe(
      'left out: comments; left out: defaults of: gone; stays as text: {{#if name}}, {{else}}, {{/if}}, {{>part}}; variables: name, count',
    )
    expect(draft.config).toEqual({
      model: 'googleai/gemini-2.5-flash',
      temperature: 0.7,
      input: { schema: { name: 'string', 'count?': 'integer' } },
      output: { format: 'json', schema: { title: 'string' } },
      tools: ['search', { name: 'find', inputSchema: { type: 'object' } }],
      'myext.key': 1,
    })
  })

  it('writes names that Handlebars would misread in brackets', () => {
    const { text } = FORMATS['prompt.prompt'].write({ ...EMPTY, ...textBody('${history} ${my name} ${ok-name}') })
    expect(text.split('---\n').at(-1)).toBe('{{this.[history]}} {{this.[my name]}} {{ok-name}}\n')
  })
})

describe('.prompty', () => {
  it('is read in its first form', () => {
    const draft = read(
      'prompt.prompty',
      `---
name: Basic
authors: [someone]
tags: [basic]
model:
  api: chat
  configuration: {type: azure_openai, azure_deployment: gpt-4o, api_key: secret}
  parameters: {max_tokens: 128}
inputs:
  question: {type: string, default: Why?}
sample: {question: x}
---
system:
You answer {{firstName}}. {% for a in b %}{{a | upper}}{% endfor %}

user:
{{ question }}
{{ '{{' }}x}}
`,
    )
    expect(draft.messages).toEqual([
      { role: 'system', content: 'You answer ${firstName}. {% for a in b %}{{a | upper}}{% endfor %}' },
      { role: 'user', content: '${question:Why?}\n{{x}}' },
    ])
    expect(draft).toMatchObject({ title: 'Basic', tags: ['basic'] })
    expect(draft.config).toMatchObject({ model: 'gpt-4o', max_tokens: 128 })
    expect(JSON.stringify(draft)).not.toContain('secret')
    expect(draft.remark).toContain('left out: authors, sample, model.api, model.configuration')
  })

  it('keeps what a file says of its inputs', () => {
    const inputs = { question: { kind: 'integer', description: 'How many' }, more: { example: 'x' } }
    const body = textBody('Ask ${question:3}', { inputs, outputs: [{ name: 'answer', kind: 'string' }] })
    const { text, leftOut } = FORMATS['prompt.prompty'].write({ ...EMPTY, ...body, category: 'coding', type: 'STRUCTURED' })
    expect(leftOut).toEqual(['the category coding', 'the type STRUCTURED'])
    expect(text).toContain('  - name: question\n    kind: integer\n    description: How many\n    default: "3"\n')
    expect(meaning(read('prompt.prompty', text))).toEqual(meaning(body))
  })

  it('says when a line of the text would begin a message', () => {
    const { leftOut } = FORMATS['prompt.prompty'].write({ ...EMPTY, ...textBody('As in\nuser:\nHi') })
    expect(leftOut).toEqual(['that a line such as user: begins no message'])
  })
})

describe('promptfooconfig.yaml', () => {
  it('gives each prompt, and names those that are elsewhere', () => {
    const text = `description: Mine
prompts:
  - 'Say {{a}}'
  - file://other.txt
  - {label: Chat, raw: '[{"role": "system", "content": "Be {{b}}"}, {"role": "user", "content": "Hi"}]'}
providers: [{id: openai:gpt-4o, config: {temperature: 0}}]
defaultTest: {vars: {b: kind}}
tests: [{vars: {a: 1}, assert: [{type: equals, value: x}]}]
`
    const entries = readFormat('promptfooconfig.yaml', 'promptfooconfig.yaml', utf8.encode(text))
    expect(entries).toMatchObject([
      {
        name: 'promptfooconfig.yaml, 1',
        draft: { title: 'Say {{a}}', content: 'Say ${a}', config: { model: 'openai:gpt-4o', temperature: 0 } },
      },
      { name: 'promptfooconfig.yaml, 2', fault: 'is in another file, file://other.txt: import that one' },
      {
        draft: {
          title: 'Chat',
          messages: [
            { role: 'system', content: 'Be ${b:kind}' },
            { role: 'user', content: 'Hi' },
          ],
        },
      },
    ])
    const tests = { tests: [{ vars: { a: 1 }, assert: [{ type: 'equals', value: 'x' }] }], defaultTest: { vars: { b: 'kind' } } }
    expect(entries[0]).toMatchObject({ draft: { config: tests } })
    const config = { model: 'openai:gpt-4o', ...tests }
    const written = FORMATS['promptfooconfig.yaml'].write({ ...EMPTY, ...textBody('Say ${a}'), config })
    const [again] = readFormat('promptfooconfig.yaml', 'promptfooconfig.yaml', utf8.encode(written.text))
    expect([written.leftOut, again]).toEqual([[], expect.objectContaining({ draft: expect.objectContaining({ config }) })])
    expect(entries[0]).toMatchObject({ draft: { remark: 'variables: a' } })
  })

  it('is written with a test to fill in', () => {
    const { text } = FORMATS['promptfooconfig.yaml'].write({ ...EMPTY, ...textBody('Say ${a} in ${b:red}') })
    expect(text).toBe(
      'prompts:\n  - label: A prompt\n    raw: Say {{a}} in {{b}}\nproviders:\n  - echo\ndefaultTest:\n  vars:\n    b: red\ntests:\n  - vars:\n      a: ""\n',
    )
  })
})
