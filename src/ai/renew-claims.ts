/** What claims items for a while. */
interface ClaimingStore {
  /** Lease time in milliseconds; null for a single instance. */
  readonly claimMs: number | null
  renewClaims(model: string): Promise<void>
}

/** Renews this instance's claims on items of a model until `work` ends. */
export async function withRenewedClaims<T>(store: ClaimingStore, model: string, work: () => Promise<T>): Promise<T> {
  // A claim that could not be renewed only lets another instance do the same work.
  const renewing = store.claimMs === null ? undefined : setInterval(() => void store.renewClaims(model).catch(() => {}), store.claimMs / 3)
  renewing?.unref()
  try {
    return await work()
  } finally {
    clearInterval(renewing)
  }
}
