/** Longest that other work waits for a check. */
const TURN_MS = 10

/** Runs work to its end, in turns with other work. */
export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  for (let began = performance.now(); ; ) {
    const step = work.next()
    if (step.done) return step.value
    if (performance.now() - began < TURN_MS) continue
    await new Promise((resume) => setImmediate(resume))
    began = performance.now()
  }
}
