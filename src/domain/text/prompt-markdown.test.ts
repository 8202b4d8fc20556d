import { expect, it } from 'vitest'
import { writePromptMarkdown } from '../service/transfer.ts'
import { splitFrontmatter } from '../skills/frontmatter.ts'

const prompt = {
  slug: 'hi',
  title: 'Hi: "you" # all',
  description: null,
  type: 'TEXT',
  author: 'ada',
  category: null,
  tags: [],
  content: 'Say ${name}\n',
}

it('writes what is known of a prompt at the head, and its text as it is', () => {
  expect(writePromptMarkdown({ ...prompt, tags: ['c#'], category: 'Coding' })).toBe(
    '---\nname: hi\ntitle: \'Hi: "you" # all\'\ntype: TEXT\nauthor: ada\ncategory: Coding\ntags:\n  - c#\n---\n\nSay ${name}\n',
  )
})

it('lets no title or description end the head', () => {
  for (const hostile of ['a\n---\nb: c', '---', '"\\', '- x', '{{x}}', '&a *a !!x', '\u2028', 'true', '12']) {
    const { fields, body } = splitFrontmatter(writePromptMarkdown({ ...prompt, title: hostile, description: hostile }))
    expect(Object.fromEntries(fields), hostile).toMatchObject({ title: hostile, description: hostile })
    expect(body).toBe('\nSay ${name}\n')
  }
})
