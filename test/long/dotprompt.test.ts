import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillBody, type PromptBody } from '../../src/domain/prompts/body.ts'
import { parseVariables } from '../../src/domain/variables/variables.ts'
import { FORMATS } from '../../src/transfer/formats/formats.ts'
import { readPromptFile } from '../../src/transfer/prompt-file.ts'
import { Dotprompt } from '../../tools/dotprompt.ts'
import { findRealData, STARTER } from '../support/real-data.ts'

/** What dotprompt itself makes of the files that are written for it. Its package has no cases of its specification. */

const dotprompt = new Dotprompt()
const textBody = (content: string): PromptBody => ({ content, messages: null, config: null, syntax: 2 })

/** The messages that dotprompt renders, each with its role and text. */
async function render(body: PromptBody, input: Record<string, string>) {
  const { text } = FORMATS['prompt.prompt'].write({ slug: 'a', title: 'A', description: null, tags: [], ...body })
  const history = { role: 'user' as const, content: [{ text: 'Earlier' }] }
  // It takes defaults as an option, and not from the file.
  const { input: given } = dotprompt.parse(text)
  const { messages } = await dotprompt.render(text, { input, messages: [history] }, { ...(given && { input: given }) })
  return messages.flatMap(({ role, content, metadata }) => {
    const said = content.map((part) => ('text' in part ? part.text : '')).join('')
    return metadata?.['purpose'] === 'history' || said === 'Earlier' ? [[role, 'history']] : [[role, said.trim()]]
  })
}

async function expectText(content: string) {
  const values = Object.fromEntries(parseVariables(content).variables.map(({ name }) => [name, `<${name}>`]))
  const wanted = fillBody(textBody(content), new Map(Object.entries(values))).text
  const rendered = (await render(textBody(content), values)).filter(([, said]) => said !== 'history')
  expect(rendered, content).toEqual([['user', wanted.trim()]])
}

describe('dotprompt', () => {
  it('fills in any text as this library does', async () => {
    const pieces = fc.constantFrom(
      ...['{', '}', '{{', '}}', '\\', '$', ' ', '\n', 'a', '#if', '!', '~', '"', '%', '&', '>', '^'],
      ...['${', '${x}', '${x:d}', '${my name}', '${history}', '${a/b:}', '\\${x}', '{{a}}'],
    )
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 10 }), async (text) => await expectText(`Begin ${text.join('')} end`)),
      { numRuns: 5_000 },
    )
  })

  it('fills in real prompts as this library does', async () => {
    for await (const row of readPromptFile(findRealData()?.promptsFile ?? STARTER.promptsFile)) {
      // In strings of JSON, this library escapes values.
      if (!('fault' in row) && !/^\s*[[{]/.test(row.draft.content)) await expectText(row.draft.content)
    }
  })

  it('gives the messages of a chat, and the history between them', async () => {
    const body: PromptBody = {
      ...textBody(''),
      messages: [
        { role: 'system', content: 'Be ${manner:kind}.' },
        { type: 'placeholder', name: 'history' },
        { role: 'user', content: 'Say {${word}}.' },
        { role: 'assistant', content: 'I say' },
      ],
    }
    expect(await render(body, { word: 'hi' })).toEqual([
      ['system', 'Be kind.'],
      ['user', 'history'],
      ['user', 'Say {hi}.'],
      ['model', 'I say'],
    ])
  })
})
