import type { EmbedConfig } from '../embed/config.ts'

/** A saved embed configuration. */
export interface StoredEmbed {
  readonly id: string
  readonly config: EmbedConfig
  readonly createdAt: string
}

/** Saved embeds: readable by anyone with the id, listed and deleted by their owner only. */
export interface EmbedStore {
  /** null when the person keeps `most` already. */
  saveEmbed(userId: string, config: EmbedConfig, most: number): Promise<StoredEmbed | null>
  findEmbed(id: string): Promise<StoredEmbed | null>
  /** The newest first. */
  listEmbeds(userId: string): Promise<StoredEmbed[]>
  /** Whether there was one of theirs. */
  deleteEmbed(userId: string, id: string): Promise<boolean>
}

/** What bodies of bulk actions begin with, which hold a selection or the report of one, and no form. */
export const BULK_DRAFT = '{"bulk":'

/** Forms that people are still writing, and what bulk actions keep for the next page, each read by its owner alone. `oldest` is a time: what is older is over. */
export interface FormDraftStore {
  /** The id of the draft. Removes what is over, and all but the newest `most` of the person: those of bulk actions and forms each by themselves. */
  saveFormDraft(userId: string, body: string, limits: { readonly most: number; readonly oldest: string }): Promise<string>
  findFormDraft(userId: string, id: string, oldest: string): Promise<string | null>
}
