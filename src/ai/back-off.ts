/** How to wait and to draw numbers, passed in so that tests need not wait. */
export interface Patience {
  /** Resolves after so long; rejects when the signal is aborted. Keeps no process alive. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** From 0 to less than 1. */
  fraction(): number
}

/**
 * How long to wait after so many failures in a row (1, 2, ...), in milliseconds: twice as long each time up to a most, of which the half to
 * the whole is taken by chance, so that many who failed together do not come back together.
 */
export function backOffMs(failures: number, firstMs: number, mostMs: number, fraction: number): number {
  const ms = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30))
  return ms / 2 + (ms / 2) * fraction
}
