import { z } from 'zod'
import { embedConfig, MAX_EMBED_BYTES, type StoredEmbed, tidyEmbedConfig } from '../domain/embed/config.ts'
import { isId } from '../domain/text/addresses.ts'
import { AppError } from '../errors.ts'
import { refInput } from './core/inputs.ts'
import { defineProcedure, defineWrite, type Needs, requireUser } from './core/procedure.ts'

/** Embeds one person may keep. */
const MAX_EMBEDS = 200

/** A configuration that is kept, as its owner and everybody with its id see it. */
function toEmbedRecord({ id, config, createdAt }: StoredEmbed, baseUrl: string) {
  return { id, config, createdAt, url: `${baseUrl}/e/${id}` }
}

/** Keeps a configuration under an address of its own, for those too long for an address. */
export const saveEmbed = defineWrite({
  scope: 'account',
  input: z.object({ config: embedConfig }),
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

/** The configuration of a saved embed, by id. */
export const showEmbed = defineProcedure({
  scope: null,
  input: z.object({ id: refInput }),
  async run({ store, baseUrl }: Needs<'embeds', 'baseUrl'>, { id }) {
    const embed = isId(id) ? await store.embeds.findEmbed(id.toLowerCase()) : null
    if (!embed) throw new AppError('not_found', 'Embed not found.')
    return toEmbedRecord(embed, baseUrl)
  },
})

/** A person's own embeds, the newest first. */
export const listEmbeds = defineProcedure({
  scope: 'account',
  async run({ actor, store, baseUrl }: Needs<'embeds', 'baseUrl'>) {
    const embeds = await store.embeds.listEmbeds(requireUser(actor).userId)
    return { embeds: embeds.map((embed) => toEmbedRecord(embed, baseUrl)) }
  },
})

/** Delete a saved embed; pages that frame it then show nothing. */
export const deleteEmbed = defineWrite({
  scope: 'account',
  input: z.object({ id: refInput }),
  async run({ actor, store }: Needs<'embeds'>, { id }) {
    if (!(await store.embeds.deleteEmbed(requireUser(actor).userId, id))) throw new AppError('not_found', 'Embed not found.')
  },
})
