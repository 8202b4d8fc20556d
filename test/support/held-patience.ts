import type { Patience } from '../../src/ai/model-requests.ts'

/** A patience that waits until the test says so; nothing is left to chance. */
export function holdPatience(): { readonly patience: Patience; readonly waits: readonly { readonly ms: number; end(): void }[] } {
  const waits: { ms: number; end: () => void }[] = []
  return {
    waits,
    patience: {
      wait: (ms, signal) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
          if (signal.aborted) reject(signal.reason)
          waits.push({ ms, end: resolve })
        }),
      fraction: () => 1,
    },
  }
}
