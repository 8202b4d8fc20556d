import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestApp, testApp } from '../support/test-app.ts'
import { signUp, visit } from '../support/visitor.ts'

describe('the pages of labels', () => {
  let service: TestApp
  let ada: Awaited<ReturnType<typeof signUp>>
  const path = '/prompts/labelled'
  beforeAll(async () => {
    service = await testApp()
    ada = await signUp(service, 'ada')
    await ada.post('/new', { do: 'save', title: 'Labelled', content: 'one\nsame', visibility: 'public' })
    await ada.post(`${path}/edit`, { do: 'save', title: 'Labelled', content: 'two\nsame\nmore', visibility: 'public', baseVersion: '1' })
  })
  afterAll(() => service.close())
  const set = (label: string, version: string, share: string, reason = '') =>
    ada.post(`${path}/versions`, { do: 'set-label', label, version, share, reason })
  const text = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

  it('move a label, share it, take that back, and remove it', async () => {
    expect((await set('production', '1', '100', 'First release')).to).toBe(`${path}/versions?done=label-moved#labels`)
    let page = text((await ada.get(`${path}/versions`)).html)
    expect(page).toContain('production Version 1')
    expect(page).toContain('First release')
    expect(page).toContain('+2 −1 lines')
    await set('production', '2', '20')
    page = text((await ada.get(`${path}/versions`)).html)
    expect(page).toMatch(/Version 1 for 80 %.*Version 2 for 20 %/)
    await ada.post(`${path}/versions`, { do: 'undo-label', label: 'production' })
    expect(text((await ada.get(`${path}/versions`)).html)).not.toContain('production 20 %')
    expect((await ada.get('/prompts?label=production')).html).toContain('Labelled')
    const stranger = (await visit(service).get(`${path}/versions`)).html
    expect([stranger.includes('production'), stranger.includes('First release'), stranger.includes('set-label')]).toEqual([
      true,
      false,
      false,
    ])
    await ada.post(`${path}/versions`, { do: 'remove-label', label: 'production' })
    expect((await ada.get('/prompts?label=production')).html).not.toContain('/prompts/labelled')
  })

  it('refuse bad names, shares of nothing, and versions that are not there, and keep what was typed', async () => {
    for (const [label, version, share, said] of [
      ['Bad Name', '1', '100', 'Label must be 1 to 36 characters'],
      ['latest', '1', '100', 'moves by itself'],
      ['fresh', '2', '20', 'does not point at a version yet'],
      ['fresh', '9', '100', 'Version 9 not found'],
    ] as const) {
      const { html, status } = await set(label, version, share)
      expect([status === 400 || status === 404, text(html).includes(said)]).toEqual([true, true])
      if (html.includes('name="label"')) expect(html).toContain(`value="${label}"`)
    }
  })

  it('keep the rules of an owner, which new versions and others obey', async () => {
    expect((await ada.get('/labels')).html).toContain('There are no rules.')
    expect((await ada.post('/labels', { do: 'rule', name: 'staging', rule: 'automatic' })).to).toBe('/labels?done=rule-saved')
    await ada.post(`${path}/edit`, { do: 'save', title: 'Labelled', content: 'three', visibility: 'public', baseVersion: '2' })
    expect(text((await ada.get(`${path}/versions`)).html)).toContain('staging Version 3')
    expect(text((await ada.post('/labels', { do: 'rule', name: 'main', rule: 'protected' })).html)).toContain('is reserved')
    await ada.post('/labels', { do: 'rule', name: 'staging', rule: 'none' })
    expect((await ada.get('/labels')).html).toContain('There are no rules.')
    expect((await visit(service).get('/labels')).to).toContain('/sign-in')
  })
})
