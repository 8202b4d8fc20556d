import type { MakeContext } from '../http/call.ts'
import { ANONYMOUS } from '../library/actor.ts'
import { type CallOperation, callLocally } from '../operations/core/invoke.ts'

/** Calls operations as an anonymous reader, whoever asks: for answers that are the same for everybody. */
export function callAnonymously(makeContext: MakeContext): CallOperation {
  return callLocally(() => makeContext(ANONYMOUS))
}
