import { AppError } from '../../errors.ts'
import type { CallOptions, Context, Operation } from './define-operation.ts'

/** The one seam every client of the operations takes: in this process, or over HTTP to another Commonplace. */
export type Invoke = (name: string, input: unknown, options?: CallOptions) => Promise<Record<string, unknown>>

/** Operations by name, made once for each list of them. */
const namesOf = new WeakMap<readonly Operation[], ReadonlyMap<string, Operation>>()

/** Operations called in this process. `context` is asked anew for each call, so that a revoked key is noticed. */
export function invokeLocally(operations: readonly Operation[], context: () => Promise<Context> | Context): Invoke {
  const known = namesOf.get(operations)
  const byName = known ?? new Map(operations.map((operation) => [operation.name, operation]))
  if (!known) namesOf.set(operations, byName)
  return async (name, input, options = {}) => {
    const operation = byName.get(name)
    if (!operation) throw new AppError('not_found', `There is no operation "${name}".`)
    return await operation.call({ ...(await context()), ...options }, input)
  }
}
