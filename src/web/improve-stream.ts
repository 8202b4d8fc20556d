import { AppError } from '../errors.ts'
import type { BoundRoute, Call, MakeContext } from '../http/call.ts'
import { answerWithEvents } from '../http/event-stream.ts'
import { callLocally } from '../operations/core/invoke.ts'
import { limitForm, readForm, refuseForeignForm } from './forms.ts'
import { improveForm } from './pages/writing/edit-prompt.tsx'
import type { Words } from './site.ts'

/** The ending added to the address of an editor. */
const SUFFIX = '/improve'
const PATHS = ['/new', '/prompts/{ref}/edit']
/** Points of one call, as of the editor's form. */
const COST = 10

/**
 * The addresses to which the script of an editor sends its form to be improved. They answer with server-sent events: those of the REST call,
 * but `result` has the page that shows the suggestion: `{ to: string }`.
 */
export function improveStreamRoutes(
  makeContext: MakeContext,
  onFault: (error: AppError, requestId: string) => void,
  baseUrl: string,
  wordsFor: (call: Call) => Words,
): BoundRoute[] {
  return PATHS.map((editor) => ({
    method: 'POST',
    path: `${editor}${SUFFIX}`,
    kind: 'page',
    cost: COST,
    bodyLimit(call) {
      const words = wordsFor(call)
      refuseForeignForm(call.exchange, baseUrl, words)
      if (call.actor.kind === 'anonymous') throw new AppError('unauthenticated', words.errors.signInFirst)
      return limitForm(call, { words })
    },
    async handle(call) {
      const { exchange, actor, client, requestId } = call
      const words = wordsFor(call)
      const form = await readForm(call, words)
      const page = exchange.path.slice(0, -SUFFIX.length)
      return await answerWithEvents(
        exchange.signal(),
        requestId,
        async (options) => {
          const context = () => ({ ...makeContext(actor), client, ...options })
          return { ...(await improveForm({ path: page, call: callLocally(context) }, form, words)) }
        },
        onFault,
      )
    },
  }))
}
