import { Command } from 'commander'
import { expect, it } from 'vitest'
import { OPERATIONS } from '../operations/index.ts'
import { addOperationCommands } from './operation-commands.ts'

it.each([
  ['improve', {}],
  ['improve', { improved: 1 }],
  ['search', { prompts: [{ title: 'no slug' }] }],
])('%s tells in a sentence that another server answered %j', async (command, answer) => {
  const program = new Command()
  addOperationCommands(
    program,
    OPERATIONS,
    async (_, work) =>
      await work(
        async () => answer,
        () => {},
      ),
  )
  const message = 'The answer is not one a Commonplace gives; use --json to see it.'
  await expect(program.parseAsync([command, 'x'], { from: 'user' })).rejects.toMatchObject({ code: 'upstream_failed', message })
})
