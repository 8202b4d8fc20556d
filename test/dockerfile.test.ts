import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** The build of an image sees only what .dockerignore lets through. */
const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

it('lets everything through that the Dockerfile copies', () => {
  const sources = [...read('Dockerfile').matchAll(/^COPY (?!--from=)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '))
  const allowed = [...read('.dockerignore').matchAll(/^!(\S+)$/gm)].map(([, name]) => name)
  expect(sources.length).toBeGreaterThan(5)
  expect(sources.filter((source) => !allowed.includes(source))).toEqual([])
})
