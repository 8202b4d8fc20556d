/**
 * The drafts that pages keep for the next request of the same person, by kind: how many of each person's, and for how long. `upload` is the files of an
 * import, `import` what one would do or did.
 */
export const DRAFT_KINDS = {
  form: { most: 10, keptMs: 24 * 3600 * 1000 },
  bulk: { most: 10, keptMs: 24 * 3600 * 1000 },
  upload: { most: 1, keptMs: 15 * 60 * 1000 },
  import: { most: 2, keptMs: 15 * 60 * 1000 },
} as const
export type DraftKind = keyof typeof DRAFT_KINDS
