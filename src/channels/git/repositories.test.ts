import { expect, it, onTestFinished } from 'vitest'
import { createGitThread } from './repositories.ts'

it('adds the processor time of an answer to the work of who asked', async () => {
  const thread = createGitThread()
  onTestFinished(() => thread.close())
  const work = { points: 0 }
  // The clock of a thread goes in steps.
  for (let asked = 0; asked < 10_000 && work.points === 0; asked++) {
    expect(await thread.ask({ kind: 'tip', key: 'none' }, work)).toEqual({ kind: 'gone' })
  }
  expect(work.points).toBeGreaterThan(0)
})
