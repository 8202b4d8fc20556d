import type { MakeContext } from '../http/call.ts'
import { ANONYMOUS } from '../library/actor.ts'
import { type CallOperation, callLocally } from '../operations/core/invoke.ts'

/** Calls operations anonymously, so that responses are the same for every reader. */
export function callAnonymously(makeContext: MakeContext): CallOperation {
  return callLocally(() => makeContext(ANONYMOUS))
}
