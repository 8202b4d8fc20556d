import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CLIENT_IDS, CLIENTS, PLACEHOLDER_KEY } from './clients.ts'

const ENDPOINT = 'http://127.0.0.1:3000/api/mcp'
const DOCUMENT = readFileSync(new URL('../../docs/connect.md', import.meta.url), 'utf8')

it('says of each client what the document says', () => {
  expect(CLIENTS.map(({ id }) => id)).toEqual(CLIENT_IDS)
  for (const { name, write } of CLIENTS) {
    const section = DOCUMENT.split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? ''
    const written = [...section.matchAll(/```\w+\n(.*?)\n```/gs)].map(([, code]) => code)
    const samples = write(ENDPOINT, PLACEHOLDER_KEY)
    expect(
      samples.map(({ text }) => text),
      name,
    ).toEqual(written)
    for (const file of samples.flatMap(({ files }) => files)) expect(section, name).toContain(`\`${file}\``)
  }
})

it('writes nothing about keys for public items, and still files that can be read', () => {
  for (const { name, write } of CLIENTS) {
    for (const { text } of write(ENDPOINT, null)) {
      expect(text, name).toContain(ENDPOINT)
      expect(text.toLowerCase(), name).not.toMatch(/header|key|env|input/)
    }
    for (const { files, text } of [...write(ENDPOINT, null), ...write(ENDPOINT, 'cpb_a')]) {
      if (files.some((file) => file.endsWith('.json'))) expect(() => JSON.parse(text), name).not.toThrow()
    }
  }
})

it('signs in by the commands of the document', () => {
  const section = DOCUMENT.split('\n## Sign in instead of a key\n')[1]?.split('\n## ')[0] ?? ''
  for (const { name, write, signsIn } of CLIENTS) {
    expect(section, name).toContain(name)
    if (typeof signsIn === 'string') continue
    expect(section, name).toContain(signsIn.command)
    const texts = write('http://127.0.0.1:3000/mcp', null).map(({ text }) => text)
    expect(texts.join('\n'), name).toContain('http://127.0.0.1:3000/mcp')
  }
})
