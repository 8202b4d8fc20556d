import type { z } from 'zod'
import { AppError } from '../errors.ts'
import type { MakeContext } from '../http/rest.ts'
import { ANONYMOUS } from '../library/actor.ts'
import type { Operation } from '../operations/define-operation.ts'

/** Calls an operation and reads its answer. @throws AppError as the operation does */
export type Call = <T>(name: string, input: Record<string, unknown>, answer: z.ZodType<T>) => Promise<T>

/** Calls operations as nobody, whoever asks: for what is the same for everybody. */
export function callAnonymously(operations: readonly Operation[], makeContext: MakeContext): Call {
  return async (name, input, answer) => {
    const operation = operations.find((candidate) => candidate.name === name)
    if (!operation) throw new AppError('internal', `There is no operation ${name}`)
    return answer.parse(await operation.call(makeContext(ANONYMOUS), input))
  }
}
