import { z } from 'zod'
import { defineOperation } from '../core/define-operation.ts'
import { collectionInput, kindOf, notFound, refInput } from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'

const input = z.object({ collection: collectionInput, id: refInput.describe('Id or slug') })
const output = z.object({ success: z.literal(true), id: z.string(), votes: z.number().int(), voted: z.boolean() })

async function setVote(
  context: Needs<'marks'>,
  { collection, id }: z.infer<typeof input>,
  voted: boolean,
): Promise<z.infer<typeof output>> {
  const kind = kindOf(collection)
  const counted = await context.store.marks.setVote(context.actor, kind, id, requireUser(context.actor).userId, voted)
  if (!counted) throw notFound(kind)
  return { success: true, ...counted, voted }
}

export const vote = defineOperation({
  name: 'vote',
  title: 'Vote for a prompt or skill',
  summary: 'Vote for an item you can see, once; voting again changes nothing.',
  scope: 'write',
  cost: 5,
  surfaces: { rest: { method: 'PUT', path: '/api/{collection}/{id}/vote' }, cli: { command: 'vote', positional: ['collection', 'id'] } },
  input,
  output,
  run: (context, target) => setVote(context, target, true),
})

export const removeVote = defineOperation({
  name: 'remove_vote',
  title: 'Remove a vote',
  summary: 'Remove your vote from an item.',
  scope: 'write',
  cost: 5,
  surfaces: {
    rest: { method: 'DELETE', path: '/api/{collection}/{id}/vote' },
    cli: { command: 'remove-vote', positional: ['collection', 'id'] },
  },
  input,
  output,
  run: (context, target) => setVote(context, target, false),
})
