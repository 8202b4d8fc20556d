/** How many sessions are kept, and for how long they may lie idle. */
export interface SessionLimits {
  readonly idleMs: number
  readonly perQuota: number
  readonly total: number
}

/** A client's session as a plain record, from which any instance can continue it. Its id is a secret, so only the hash is stored. */
export interface SessionStore {
  /** Keeps a new session; the idle go, then the oldest of its quota and of all beyond the limits. `initialize` is the body that opened it. Gives those that went. */
  createSession(
    session: { sha256: string; owner: string; quota: string; initialize: string },
    limits: SessionLimits,
  ): Promise<{ sha256: string; holder: string | null }[]>
  /** The session, noted as used (at most once a minute); null when there is none, or it lay idle for longer than `idleMs`. */
  findSession(sha256: string, idleMs: number): Promise<{ owner: string; initialize: string; holder: string | null } | null>
  /**
   * Makes an instance the holder of the session, unless another than `expected` became it meanwhile; returns the current holder, or null
   * when the session does not exist.
   */
  takeSession(sha256: string, instance: string, expected: string | null): Promise<string | null>
  /** Notes that no instance holds the session's server, when `instance` does. */
  releaseSession(sha256: string, instance: string): Promise<void>
  /** Lets go of all sessions that an instance holds. */
  releaseSessions(instance: string): Promise<void>
  /** Returns its holder; null without one. */
  deleteSession(sha256: string): Promise<string | null>
}
