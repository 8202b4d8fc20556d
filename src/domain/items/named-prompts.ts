import type { PromptConfig } from '../prompts/config.ts'
import type { Tag } from './items.ts'
import type { Label } from './labels.ts'

/** Narrows a list of prompts by their versions. Times are ISO 8601 in UTC; `to` is not included. */
export interface NamedFilter {
  readonly name?: string | undefined
  readonly label?: string | undefined
  readonly tag?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** A prompt in a list by names, with the versions that pass the filter. */
export interface NamedPrompt {
  readonly name: string
  readonly isChat: boolean
  /** Number of its newest version, whatever the filter. */
  readonly newest: number
  readonly versions: readonly number[]
  readonly labels: readonly Label[]
  readonly tags: readonly Tag[]
  /** Of these versions. */
  readonly updatedAt: string
  /** Of the newest of these versions. */
  readonly config: PromptConfig | null
}
