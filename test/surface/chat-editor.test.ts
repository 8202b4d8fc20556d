import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestApp, testApp } from '../support/test-app.ts'
import { signUp } from '../support/visitor.ts'

describe('the editor of chat prompts', () => {
  let service: TestApp
  beforeAll(async () => {
    service = await testApp()
  })
  afterAll(() => service.close())

  it('writes messages and a config, adds fields, and keeps what is refused', async () => {
    const writer = await signUp(service, 'ada')
    // What was typed as one text becomes a message.
    const begun = await writer.postOn('/new', { do: 'chat', title: 'Begun', content: 'Write ${name}', visibility: 'private' })
    expect(begun.html).toMatch(/name="text\.1"[^>]*>\nWrite \$\{name\}</)
    expect([begun.html.includes('value="Begun"'), begun.html.includes('name="content"')]).toEqual([true, false])
    const empty = (await writer.get('/new?kind=chat')).html
    expect(empty).toContain('name="text.2"')
    expect(empty).not.toContain('name="content"')
    const fields = {
      title: 'Chat',
      visibility: 'public',
      'role.0': 'system',
      'text.0': 'Be kind.',
      'role.1': 'placeholder',
      'text.1': 'history',
      'role.2': 'user',
      'text.2': 'Hi ${name}',
      'role.3': 'user',
      'text.3': '',
    }
    const more = await writer.postOn('/new', { do: 'more', ...fields })
    expect(more.html).toContain('name="text.3"')
    expect(more.html).toContain('Hi ${name}')
    const refused = await writer.postOn('/new', { do: 'save', ...fields, config: '{' })
    expect(refused.html).toContain('is no JSON')
    expect(refused.html).toContain('Be kind.')
    const saved = await writer.post('/new', { do: 'save', ...fields, config: '{"model":"m"}' })
    expect(saved.to).toContain('/prompts/chat')
    const page = (await writer.get('/prompts/chat')).html
    expect(page).toContain('Placeholder: history')
    expect(page).toContain('&quot;model&quot;: &quot;m&quot;')
    const edit = (await writer.get('/prompts/chat/edit')).html
    expect(edit).toMatch(/name="text\.1"[^>]*>\nhistory</)
    const changed = { ...fields, do: 'save', 'text.0': 'Be brief.', baseVersion: '1', config: '{"model":"n"}' }
    await writer.post('/prompts/chat/edit', changed)
    const version = (await writer.get('/prompts/chat/versions/2')).html
    expect(version).toContain('Config: model')
    expect(version).toMatch(/<del>[^<]*kind/)
  })
})
