import { strangerTo } from '../domain/people/actor.ts'
import type { MakeContext } from '../http/call.ts'
import { type CallOperation, callLocally } from '../operations/core/invoke.ts'

/** Calls operations as a stranger to this library, so that responses are the same for every reader. */
export function callAnonymously(makeContext: MakeContext, library: { readonly isForMembers: boolean }): CallOperation {
  const stranger = strangerTo(library)
  return callLocally(() => makeContext(stranger))
}
