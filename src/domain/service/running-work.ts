/** How many things each name holds at this moment; a name that holds none is forgotten. */
export function createTally() {
  const counts = new Map<string, number>()
  return {
    of: (name: string) => counts.get(name) ?? 0,
    /** Adds one to the count of a name; the returned function subtracts it once. */
    add(name: string) {
      counts.set(name, (counts.get(name) ?? 0) + 1)
      let isOff = false
      return () => {
        if (isOff) return
        isOff = true
        const left = (counts.get(name) ?? 1) - 1
        if (left === 0) counts.delete(name)
        else counts.set(name, left)
      }
    },
  }
}

/** Waits for work, but no longer than until `signal` is aborted. @throws what it was aborted with */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** The result of work in steps, all taken at once. */
export function finish<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The result of work in steps, with a pause after each. */
export async function takeSteps<T>(steps: Generator<unknown, T>, pause: () => Promise<unknown>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await pause()
  }
}
