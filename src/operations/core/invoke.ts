import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import type { Operation } from './define-operation.ts'
import type { CallOptions, Context, Procedure } from './procedure.ts'

/** Calls a procedure of this process, or an operation. @throws AppError as it does */
export type CallOperation = <I extends z.ZodObject, T>(procedure: Procedure<I, T>, input: z.input<I>, options?: CallOptions) => Promise<T>

/** Calls procedures as one caller. `makeContext` runs for each call, so that a revoked key is noticed. */
export function callLocally(makeContext: () => Promise<Context> | Context): CallOperation {
  return async (procedure, input, options = {}) => await procedure.call({ ...(await makeContext()), ...options }, input)
}

/** Calls an operation by name: the seam of callers that may be on another machine (MCP clients, the command line). */
export type Invoke = (name: string, input: unknown, options?: CallOptions) => Promise<Record<string, unknown>>

/** Operations by name, made once for each list of them. */
const indexes = new WeakMap<readonly Operation[], ReadonlyMap<string, Operation>>()

/** An {@link Invoke} of the operations of this process. @throws AppError `not_found` for an unknown name */
export function invokeLocally(operations: readonly Operation[], makeContext: () => Promise<Context> | Context): Invoke {
  const cached = indexes.get(operations)
  const byName = cached ?? new Map(operations.map((operation) => [operation.name, operation]))
  if (!cached) indexes.set(operations, byName)
  const call = callLocally(makeContext)
  return async (name, input, options) => {
    const operation = byName.get(name)
    if (!operation) throw new AppError('not_found', `Unknown operation "${name}".`)
    return await call(operation, input as Record<string, unknown>, options)
  }
}
