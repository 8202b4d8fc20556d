import fc from 'fast-check'

/** How long a counterexample is made smaller. Nothing can stop the tests of a file while it is. */
const MAX_SHRINK_MS = 10_000

// Many more in the long tests.
fc.configureGlobal({ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 25) })

// Counted from the first failure, so that it has no part in what passes: a run that fails is reported whatever the machine has to do,
// and one that does not is never cut short. What shrinks for longer is reported as it is by then.
fc.installGlobalPlugin(() => {
  let failedAtMs: number | null = null
  const note = <Outcome>(outcome: Outcome | null): Outcome | null => {
    const isFailure = outcome !== null && !fc.PreconditionFailure.isFailure(outcome)
    if (isFailure) failedAtMs ??= performance.now()
    return outcome
  }
  return {
    decorateRun: (run) => (value) => {
      if (failedAtMs !== null && performance.now() - failedAtMs > MAX_SHRINK_MS) return new fc.PreconditionFailure(true)
      const outcome = run(value)
      return outcome !== null && 'then' in outcome ? outcome.then(note) : note(outcome)
    },
  }
})
