import { z } from 'zod'

const record = z.record(z.string(), z.unknown())

/** How the stub of a provider answers. */
export const moodShape = z.object({
  /** Members of its own description that differ. */
  discovery: record.default({}),
  /** Claims of ID tokens that differ; undefined ones are left out. */
  idToken: record.default({}),
  userInfo: record.default({}),
  /** What GitHub's API answers, by path. */
  gitHub: z.record(z.string(), z.unknown()).default({}),
  isGitHub: z.boolean().default(false),
  hasIdToken: z.boolean().default(true),
  /** Whether it signs with a key that it does not publish. */
  isForged: z.boolean().default(false),
  algorithm: z.string().default('RS256'),
  reusesCodes: z.boolean().default(false),
  /** How far its clock is ahead. */
  clockSeconds: z.number().default(0),
  /** Characters added to each answer. */
  padding: z.number().default(0),
  /** Paths it never answers. */
  silent: z.array(z.string()).default([]),
})
export type Mood = z.infer<typeof moodShape>
