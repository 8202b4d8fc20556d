/** Values by key that were read as nobody in particular: of what is public alone. Those used longest ago go first. */
export interface Keeper<T> {
  get(key: string): T | undefined
  /** Keeps a value read since {@link PublicReads.refresh} gave `state`; one that was read in an older state is not kept. */
  put(state: number, key: string, value: T, weight: number): void
}

/**
 * What is remembered of reads that anybody may make, as long as nobody has written to the library.
 * Nothing that somebody alone may see goes in, and only reads of nobody in particular are answered from it.
 */
export interface PublicReads {
  /** Asks the database whether the library is still the same; if it is not, everything is forgotten. To be called before each use. */
  refresh(): Promise<number>
  /** A place for values of one kind, which weigh no more than this together. */
  keep<T>(maxWeight: number): Keeper<T>
}

/** @param readVersion gives another number whenever somebody has written, in this process or in another */
export function createPublicReads(readVersion: () => Promise<number>): PublicReads {
  let current: number | null = null
  const forgetters: (() => void)[] = []
  return {
    async refresh() {
      const seen = await readVersion()
      if (seen !== current) {
        current = seen
        for (const forget of forgetters) forget()
      }
      return seen
    },
    keep<T>(maxWeight: number): Keeper<T> {
      const kept = new Map<string, { readonly value: T; readonly weight: number }>()
      let weight = 0
      forgetters.push(() => {
        kept.clear()
        weight = 0
      })
      return {
        get(key) {
          const known = kept.get(key)
          if (!known) return undefined
          kept.delete(key)
          kept.set(key, known)
          return known.value
        },
        put(state, key, value, ofValue) {
          if (state !== current || ofValue > maxWeight) return
          weight += ofValue - (kept.get(key)?.weight ?? 0)
          kept.delete(key)
          kept.set(key, { value, weight: ofValue })
          for (const [oldest, old] of kept) {
            if (weight <= maxWeight) break
            kept.delete(oldest)
            weight -= old.weight
          }
        },
      }
    },
  }
}
