/** How to wait and to draw numbers, passed in so that tests need not wait. */
export interface Patience {
  /** Resolves after so long; rejects when the signal is aborted. Keeps no process alive. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** From 0 to less than 1. */
  fraction(): number
}

/**
 * Exponential back-off with jitter, in milliseconds, after so many failures in a row (1, 2, …): doubling up to a maximum, of which a random
 * half to whole is used.
 */
export function backOffMs(failures: number, firstMs: number, mostMs: number, fraction: number): number {
  const ms = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30))
  return ms / 2 + (ms / 2) * fraction
}
