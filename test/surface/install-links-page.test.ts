import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readJson, type TestApp, testApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

let service: TestApp
let ada: Visitor
const skillNamed = (name: string, text = 'x') => [
  { filename: 'SKILL.md', content: `---\nname: ${name}\ndescription: What ${name} does\n---\n${text}` },
]

beforeAll(async () => {
  service = await testApp()
  ada = await signUp(service, 'Ada')
  const { actor } = await service.user('Ada')
  const save = async (title: string, files: object[], isPrivate: boolean) =>
    await service.call(actor, 'save_skill', { title, files, isPrivate, tags: ['Install me'], category: 'coding' })
  await save('Open one', skillNamed('open-one'), false)
  Object(await save('Hidden one', skillNamed('hidden-one'), true))
  await save('Broken one', [{ filename: 'SKILL.md', content: 'No frontmatter.' }], false)
})
afterAll(() => service.close())

const unescapeHtml = (html: string) => html.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&')

describe('the box that installs', () => {
  it('is on the page of a skill, an author, a tag and a category, each with its own lines', async () => {
    const stranger = visit(service)
    const base = 'http://127.0.0.1:3000'
    for (const [page, scope] of [
      ['/skills/open-one', '/skills/open-one'],
      ['/@Ada', '/@Ada'],
      ['/tags/install-me', '/tags/install-me'],
      ['/categories/coding', '/categories/coding'],
    ] as const) {
      const html = unescapeHtml((await stranger.get(page)).html)
      expect(html, page).toContain(`npx skills add ${base}${scope}</code>`)
      expect(html, page).toContain(`claude plugin marketplace add ${base}${scope}.git</code>`)
      expect(html, page).toContain(`${base}${scope}/.well-known/skills/`)
      // What is shown is there: the index, and the plugin by the name of the line.
      const index = await readJson(await service.fetch(`${scope}/.well-known/agent-skills/index.json`))
      expect(index.skills.map(({ name }: { name: string }) => name)).toEqual(['open-one'])
      const market = await readJson(await service.fetch(`${scope}/marketplace.json`))
      const [, plugin = '', marketName] = /claude plugin install ([\w-]+)@([\w-]+)</.exec(html) ?? []
      expect(market.name).toBe(marketName)
      expect([...market.plugins.map(({ name }: { name: string }) => name), 'NAME']).toContain(plugin)
    }
  })

  it('tells a member whom an item is for, and offers no line that finds nothing without a key', async () => {
    const { actor } = await service.user('Ada')
    const files = skillNamed('for-members')
    const { skill } = Object(await service.call(actor, 'save_skill', { title: 'Ours', files, visibility: 'members', tags: ['Ours'] }))
    const member = await signUp(service, 'Ben')
    for (const page of [`/skills/${skill.slug}`, '/tags/ours']) {
      const html = unescapeHtml((await member.get(page)).html)
      expect(html, page).toContain('Members')
      expect(html, page).not.toContain('npx skills add')
    }
    expect((await member.get(`/skills/${skill.slug}`)).html).toContain('badge is-members')
  })

  it('tells the owner, and nobody else, why a skill is left out', async () => {
    const why = 'Agents cannot install this skill by its name: In SKILL.md,'
    expect((await ada.get('/skills/broken-one')).html).toContain(why)
    const shown = (await visit(service).get('/skills/broken-one')).html
    expect(shown).toContain('Broken one')
    expect(shown).not.toContain(why)
    expect(shown).not.toContain('npx skills add')
    const { actor } = await service.user('Ada')
    const files = [{ filename: 'SKILL.md', content: `---\nname: Long One\ndescription: ${'word '.repeat(300)}\n---\n` }]
    const { skill } = Object(await service.call(actor, 'save_skill', { title: 'Long one', files, visibility: 'public' }))
    const { html } = await ada.get(`/skills/${skill.slug}`)
    for (const note of ['indexes give it as long-one', 'more than 1024 characters: indexes cut it']) expect(html).toContain(note)
    expect(html).not.toContain(why)
  })
})

describe('the page of install links', () => {
  it('makes a link that reads what its maker sees, shows it once, and revokes it', async () => {
    const made = await ada.post('/settings/access', {
      do: 'create-link',
      name: 'Laptop',
      scope: 'http://127.0.0.1:3000/tags/install-me/',
      expiresInDays: '30',
    })
    expect([made.status, made.to]).toEqual([303, '/settings/access'])
    const { html } = await ada.get('/settings/access')
    const [, path = ''] = /npx skills add http:\/\/127\.0\.0\.1:3000(\/install\/[\w-]+)</.exec(html) ?? []
    const names = async () => {
      const answer = await service.fetch(`${path}/.well-known/agent-skills/index.json`)
      return answer.status === 200 ? (await readJson(answer)).skills.map(({ name }: { name: string }) => name) : answer.status
    }
    expect(await names()).toEqual(['open-one', 'hidden-one'])
    // Its use is noted after the answer.
    const linksOf = async () => (await ada.get('/settings/access')).html.split('id="install-links"')[1] ?? ''
    await expect.poll(linksOf).not.toContain('never used')
    const again = await linksOf()
    expect(again).not.toContain(path)
    expect(again).toContain('/tags/install-me')
    const [, id = ''] = /name="id" value="([^"]+)"/.exec(again) ?? []
    expect((await ada.post('/settings/access', { do: 'revoke-link', id })).to).toBe('/settings/access?done=link-revoked')
    expect(await names()).toBe(404)
    expect((await ada.get('/settings/access')).html).toContain('revoked')
  })
})
