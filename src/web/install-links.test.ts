import { expect, it } from 'vitest'
import { claudeCommand, linkInstalls, skillCommand } from './clients.ts'

const ENDPOINT = 'https://prompts.example.org/library/api/mcp'

/** The configuration in each link, as its client reads it. */
function readLinks(key: string | null): unknown[] {
  return linkInstalls(ENDPOINT, key).map(({ client, href }) => {
    const { protocol, search, searchParams } = new URL(href)
    if (client === 'Cursor') {
      const config = Buffer.from(searchParams.get('config') ?? '', 'base64').toString()
      return [protocol, searchParams.get('name'), JSON.parse(config)]
    }
    return [protocol, JSON.parse(decodeURIComponent(search.slice(1)))]
  })
}

it('adds the service to Cursor and VS Code, with a key or without', () => {
  expect(readLinks(null)).toEqual([
    ['cursor:', 'commonplace', { url: ENDPOINT }],
    ['vscode:', { name: 'commonplace', type: 'http', url: ENDPOINT }],
  ])
  const headers = { PROMPTS_API_KEY: 'cpb_+/=&' }
  expect(readLinks('cpb_+/=&')).toEqual([
    ['cursor:', 'commonplace', { url: ENDPOINT, headers }],
    ['vscode:', { name: 'commonplace', type: 'http', url: ENDPOINT, headers }],
  ])
})

it('adds the service to Claude Code', () => {
  expect(claudeCommand(ENDPOINT, null)).toBe(`claude mcp add --transport http commonplace ${ENDPOINT}`)
  expect(claudeCommand(ENDPOINT, 'cpb_a')).toBe(`claude mcp add --transport http commonplace ${ENDPOINT} --header "PROMPTS_API_KEY: cpb_a"`)
})

it('names a key for a private skill alone', () => {
  const skill = { id: 'an-id', slug: 'a-skill', needsKey: false }
  expect(skillCommand('https://example.org', skill)).toBe(
    "curl -fsS 'https://example.org/api/skills/an-id/zip' -o a-skill.zip && unzip -q a-skill.zip -d ~/.claude/skills && rm a-skill.zip",
  )
  expect(skillCommand('https://example.org', { ...skill, needsKey: true })).toContain('curl -fsS -H "X-API-Key: $COMMONPLACE_KEY" ')
})
