import { z } from 'zod'
import { AppError } from '../errors.ts'
import type { StoredEmbed } from '../library/embed/config.ts'
import { embedConfig, MAX_EMBED_BYTES, tidyEmbedConfig } from '../library/embed/config.ts'
import { isId } from '../library/identifier.ts'
import { defineOperation, type Needs, requireUser } from './core/define-operation.ts'
import { refInput } from './core/inputs.ts'

/** Embeds one person may keep. */
const MAX_EMBEDS = 200

/** A configuration that is kept, as its owner and everybody with its id see it. */
export const embedRecord = z.object({
  id: z.string(),
  config: embedConfig,
  createdAt: z.string().meta({ format: 'date-time' }),
  url: z.string(),
})

function toEmbedRecord({ id, config, createdAt }: StoredEmbed, baseUrl: string): z.infer<typeof embedRecord> {
  return { id, config, createdAt, url: `${baseUrl}/e/${id}` }
}

/** Keeps a configuration under an address of its own, for those too long for an address. */
export const saveEmbed = defineOperation({
  name: 'save_embed',
  title: 'Save an embed',
  summary: 'Save an embed configuration under a short address that anyone with it can open.',
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ config: embedConfig }),
  output: embedRecord,
  async run({ actor, store, baseUrl }: Needs<'embeds', 'baseUrl'>, input) {
    const config = tidyEmbedConfig(input.config)
    const bytes = new TextEncoder().encode(JSON.stringify(config)).length
    if (bytes > MAX_EMBED_BYTES) {
      throw new AppError('too_large', `The embed has ${bytes} bytes; the limit is ${MAX_EMBED_BYTES}. Shorten its texts.`)
    }
    const saved = await store.embeds.saveEmbed(requireUser(actor).userId, config, MAX_EMBEDS)
    if (!saved) throw new AppError('conflict', `You already have ${MAX_EMBEDS} saved embeds. Delete one first.`)
    return toEmbedRecord(saved, baseUrl)
  },
})

export const showEmbed = defineOperation({
  name: 'show_embed',
  title: 'Show an embed',
  summary: 'The configuration of a saved embed, by id.',
  scope: null,
  surfaces: {},
  input: z.object({ id: refInput }),
  output: embedRecord,
  async run({ store, baseUrl }: Needs<'embeds', 'baseUrl'>, { id }) {
    const embed = isId(id) ? await store.embeds.findEmbed(id.toLowerCase()) : null
    if (!embed) throw new AppError('not_found', 'Embed not found.')
    return toEmbedRecord(embed, baseUrl)
  },
})

/** A person's own embeds, the newest first. */
export const listEmbeds = defineOperation({
  name: 'list_embeds',
  title: 'List your embeds',
  summary: 'Your saved embeds, newest first.',
  scope: 'account',
  surfaces: {},
  input: z.object({}),
  output: z.object({ embeds: z.array(embedRecord) }),
  async run({ actor, store, baseUrl }: Needs<'embeds', 'baseUrl'>) {
    const embeds = await store.embeds.listEmbeds(requireUser(actor).userId)
    return { embeds: embeds.map((embed) => toEmbedRecord(embed, baseUrl)) }
  },
})

export const deleteEmbed = defineOperation({
  name: 'delete_embed',
  title: 'Delete an embed',
  summary: 'Delete a saved embed; pages that frame it then show nothing.',
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ id: refInput }),
  output: z.object({ success: z.literal(true) }),
  async run({ actor, store }: Needs<'embeds'>, { id }) {
    if (!(await store.embeds.deleteEmbed(requireUser(actor).userId, id))) throw new AppError('not_found', 'Embed not found.')
    return { success: true as const }
  },
})
