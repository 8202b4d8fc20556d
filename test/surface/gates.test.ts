import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createPlace } from '../support/processes.ts'

/** JUnit XML of two cases; `breaks`: the second fails. */
const junit = (breaks: boolean) =>
  `<testsuite name="s"><testcase name="short" classname=""/><testcase name="polite" classname="">${breaks ? '<failure/>' : ''}</testcase></testsuite>`
const WORSE = 'version 2: worse than version 1 in polite'

describe('a gate on the command line', () => {
  const place = createPlace()
  afterAll(() => place.remove())

  it('lets no version that breaks a case become production', async () => {
    const run = (...args: string[]) => place.commonplace([...args, '--user', 'ada'])
    const must = async (...args: string[]) => {
      const { code, stdout } = await run(...args)
      expect(code, args.join(' ')).toBe(0)
      return stdout
    }
    await place.commonplace(['users', 'create', 'ada'])
    const { prompt } = JSON.parse(await must('save-prompt', '--title', 'Reply', '--content', 'Reply politely.'))
    await must('update-prompt', prompt.id, '--content', 'Reply.')
    for (const version of ['1', '2']) {
      const file = join(place.folder, `junit-${version}.xml`)
      writeFileSync(file, junit(version === '2'))
      await must('report-results', 'prompts', prompt.id, version, '--file', file)
    }
    await must('set-gate', 'production', '--min-percent', '50', '--max-drop', '0', '--keys', 'local')
    await must('set-label', 'prompts', prompt.id, 'production', '1')
    const refused = await run('set-label', 'prompts', prompt.id, 'production', '2')
    expect([refused.code, refused.stderr]).toEqual([75, expect.stringContaining(WORSE)])
    expect(await must('get-prompt', prompt.id, '--label', 'production')).toContain('Reply politely.')
    // A flag of the command, and not the version of the program.
    expect(await must('get-prompt', prompt.id, '--version', '2')).toContain('"content": "Reply."')
    await must('set-gate', 'production')
    const shares = [1, 2].map((version) => ({ version, weight: 50 }))
    await must('set-label', 'prompts', prompt.id, 'production', '--targets', JSON.stringify(shares))
  })
})
