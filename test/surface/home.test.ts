import { beforeAll, describe, expect, it } from 'vitest'
import { testApp, useTestApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

/** The titles of rows below each heading. */
function readSections(html: string): Record<string, string[]> {
  const sections = html.split(/<h2[^>]*>/).slice(1)
  return Object.fromEntries(
    sections.map((section) => [
      section.split('</h2>')[0] ?? '',
      [...section.matchAll(/<h3 dir="auto"><a [^>]*>(.*?)<\/a>/g)].map(([, title]) => title ?? ''),
    ]),
  )
}

describe('the first page', () => {
  const test = useTestApp()
  let ada: Visitor
  let bob: Visitor
  beforeAll(async () => {
    ada = await signUp(test, 'ada')
    bob = await signUp(test, 'bob')
    await write(ada, { title: 'Of Ada', visibility: 'public', category: 'coding' })
    const marked = await write(ada, { title: 'Marked of Ada', visibility: 'public', category: 'testing' })
    await bob.post(marked, { do: 'favourite' })
    await write(ada, { title: 'Secret of Ada', visibility: 'private', category: 'coding' })
    await write(bob, { title: 'Secret of Bob', visibility: 'private' })
  })

  const write = async (who: Visitor, fields: Record<string, string>) =>
    (await who.post('/new', { content: 'A text.', ...fields })).to?.split('?')[0] ?? ''

  it('offers first steps until they are done', async () => {
    const carl = await signUp(test, 'carl')
    const stepsOf = async (who: Visitor) => {
      const html = /<ol>(?:<li[^>]*>.*?<\/li>)+<\/ol>/.exec((await who.get('/')).html)?.[0] ?? ''
      return [...html.matchAll(/<li( class="done")?>/g)].map(([, done]) => done !== undefined)
    }
    expect(await stepsOf(visit(test))).toEqual([])
    expect(await stepsOf(carl)).toEqual([true, false, false, false])
    await write(carl, { title: 'First' })
    const made = await carl.postOn('/settings/access', { do: 'create', name: 'k', scopes: ['read'] })
    const key = /cpb_[A-Za-z0-9]{49}/.exec(made.html)?.[0] ?? ''
    expect(await stepsOf(carl)).toEqual([true, true, false, true])
    expect((await test.fetch('/api/prompts', { key })).status).toBe(200)
    await expect.poll(() => stepsOf(carl)).toEqual([])
  })

  it('hides the steps for good, for whoever wants that alone', async () => {
    const dora = await signUp(test, 'dora')
    expect((await dora.get('/')).html).toContain('First steps')
    expect((await dora.post('/settings', { do: 'hide-steps' })).to).toBe('/')
    expect((await dora.get('/')).html).not.toContain('First steps')
    const fresh = await test.reopen()
    const person = await fresh.app.store.people.findPersonByName('dora')
    expect(await fresh.app.store.people.readFirstSteps(person?.id ?? '')).toMatchObject({ isHidden: true })
    await fresh.close()
    expect((await bob.get('/')).html).toContain('First steps')
    expect((await visit(test).post('/settings', { do: 'hide-steps' })).to).toContain('/sign-in')
    // Administrators are reminded to invite somebody, until somebody else is there.
    expect([(await ada.get('/')).html, (await bob.get('/')).html].map((html) => html.includes('Invite someone'))).toEqual([true, false])
    const alone = await testApp()
    expect((await (await signUp(alone, 'eva')).get('/')).html).toContain('<a href="/admin/invites">Invite someone</a>')
    await alone.close()
  })

  it('shows members their own, their favourites and what is new of others', async () => {
    const shown = readSections((await bob.get('/')).html)
    expect(shown['Recently edited by you']).toEqual(['Secret of Bob'])
    expect(shown['Favourites']).toEqual(['Marked of Ada'])
    expect(shown['New in the library']).toEqual(['Marked of Ada', 'Of Ada'])
    expect(Object.keys(shown)).not.toContain('Newest')
    const own = readSections((await ada.get('/')).html)
    expect(own['Recently edited by you']).toEqual(['Secret of Ada', 'Marked of Ada', 'Of Ada'])
    expect([own['Favourites'], own['New in the library']]).toEqual([undefined, undefined])
    await ada.post('/prompts/marked-of-ada', { do: 'feature' })
    expect(readSections((await bob.get('/')).html)['Featured']).toEqual(['Marked of Ada'])
  })

  it('shows strangers the categories with what everybody finds in them', async () => {
    const { html } = await visit(test).get('/')
    expect(readSections(html)).toMatchObject({ 'Browse by category': [], Newest: ['Marked of Ada', 'Of Ada'] })
    const counts = [...html.matchAll(/<a href="\/(?:prompts|skills)\?category=([\w-]+)">[^<]*<span class="count">([\d,]+)<\/span>/g)]
    // Testing is below coding; what is private is not counted.
    expect(counts.map(([, slug, count]) => [slug, count])).toEqual([['coding', '2']])
    expect(html).not.toContain('Recently edited by you')
  })
})
