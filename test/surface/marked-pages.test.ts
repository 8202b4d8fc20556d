import { beforeAll, expect, it } from 'vitest'
import { markControls } from '../../src/web/escape.ts'
import { useTestApp } from '../support/test-app.ts'

/** Marks are for people; a text that is made of control characters must not cost many times what another of its length does. */

const test = useTestApp()
beforeAll(async () => {
  const { actor } = await test.user('ada')
  await test.call(actor, 'save_prompt', { title: 'Full', content: '\u202ea'.repeat(99_990), visibility: 'public' })
})

const MAX_GROWTH = 60_000

it('a page grows by its marks alone, and there are so many of them', () => {
  const text = '\u202ea'.repeat(200_000)
  const marked = markControls(`<p title="${text}">${text}</p><title>${text}</title>`)
  expect(marked.length - 3 * text.length).toBeLessThan(MAX_GROWTH)
  expect(marked.match(/<bdi/g)).toHaveLength(500)
  expect(marked.replaceAll(/<bdi data-controls="202E">\u202e<\/bdi>/g, '')).not.toMatch(/<p[^>]*>[^<]*\u202e/)
})

it.each(['/prompts/full', '/prompts/full/versions/1'])('%s stays near the length of its text', async (path) => {
  const page = await (await test.fetch(path, { headers: { accept: 'text/html' } })).text()
  expect(page.match(/<bdi/g)?.length ?? 0).toBeLessThanOrEqual(500)
  expect(page.length).toBeLessThan(10 * 99_990 + MAX_GROWTH)
})
