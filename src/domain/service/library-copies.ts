/** A file beside the service that holds the library as it was. */
export interface LibraryCopy {
  readonly path: string
  /** `backup`: in `BACKUP_DIR`; `upgrade`: made before an upgrade; `replaced`: set aside by a restore. */
  readonly kind: 'backup' | 'upgrade' | 'replaced'
  readonly bytes: number
  /** When it was last written, as ISO 8601 in UTC. */
  readonly writtenAt: string
}
