/** An install link as stored: everything but its token. */
export interface StoredInstallLink {
  readonly id: string
  readonly name: string
  readonly userId: string
  readonly username: string
  /** The path of its scope; empty for everything its maker may see. */
  readonly scope: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  /** Whether its maker's account is suspended: no link of theirs works meanwhile. */
  readonly isSuspended: boolean
}

/** Install links: addresses with a secret in them that read a scope with their maker's rights. Only their digests are stored. */
export interface InstallLinkStore {
  /** Forgets links that were over for more than 30 days. @throws AppError `not_found`, `conflict` for somebody with MAX_INSTALL_LINKS links that work */
  createInstallLink(link: {
    readonly name: string
    readonly userId: string
    readonly sha256: string
    readonly scope: string
    readonly expiresAt: string | null
    /** The key or session that makes it. It ends no later than a key. */
    readonly madeBy: string | null
  }): Promise<StoredInstallLink>
  findInstallLink(sha256: string): Promise<StoredInstallLink | null>
  /** One person's, newest first: at most 200. */
  listInstallLinks(userId: string): Promise<StoredInstallLink[]>
  /** Null when this person has no such link. Revoking again changes nothing. */
  revokeInstallLink(userId: string, id: string): Promise<StoredInstallLink | null>
  /** Notes that a link was used now. */
  touchInstallLink(id: string): Promise<void>
}
