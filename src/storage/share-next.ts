/** Coalesces calls: those that arrive during a run share the next run, which begins after it. No two run at once. */
export function shareNext<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null
  let next: Promise<T> | null = null
  const run = (): Promise<T> => {
    running = work().finally(() => {
      running = null
    })
    return running
  }
  return () => {
    // One that is about to begin is for everybody who asks before.
    if (next) return next
    if (!running) return run()
    next = running
      .catch(() => null)
      .then(() => {
        next = null
        return run()
      })
    return next
  }
}
