import type { z } from 'zod'
import type { MakeContext } from '../http/call.ts'
import { ANONYMOUS } from '../library/actor.ts'
import type { Operation } from '../operations/core/define-operation.ts'
import { invokeLocally } from '../operations/core/invoke.ts'

/** Calls an operation and reads its answer. @throws AppError as the operation does */
export type Call = <T>(name: string, input: Record<string, unknown>, answer: z.ZodType<T>) => Promise<T>

/** Calls operations as nobody, whoever asks: for what is the same for everybody. */
export function callAnonymously(operations: readonly Operation[], makeContext: MakeContext): Call {
  const invoke = invokeLocally(operations, () => makeContext(ANONYMOUS))
  return async (name, input, answer) => answer.parse(await invoke(name, input))
}
