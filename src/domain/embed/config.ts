import { z } from 'zod'
import { textField } from '../items/fields.ts'
import examples from './examples.json' with { type: 'json' }

/** Longest texts of a configuration, in characters. */
export const MAX_EMBED_PROMPT = 10_000
const MAX_EMBED_TEXT = 10_000
const MAX_EMBED_LIST = 4_000
const MAX_EMBED_LABEL = 120
/** Largest configuration that is stored, as JSON, in bytes. */
export const MAX_EMBED_BYTES = 64 * 1024
/** Longest query of an address that shows a configuration, in characters; longer ones are stored. */
export const MAX_EMBED_QUERY = 8 * 1024

const flag = z.boolean().optional()
const label = textField({ max: MAX_EMBED_LABEL }).optional()
const text = textField({ max: MAX_EMBED_TEXT }).optional()
const list = textField({ max: MAX_EMBED_LIST }).optional()
const color = z
  .string()
  .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #3b82f6')
  .optional()

/** The contents of an embed (specification, section 2.4): the one schema of addresses, the designer, stored embeds and examples. */
export const embedConfig = z.object({
  prompt: textField({ max: MAX_EMBED_PROMPT }).optional().meta({ description: 'The text to show; may have several lines.' }),
  context: list.meta({ description: 'References, separated by commas: @file.ts, #image.png, https://example.org, folder/' }),
  model: label.meta({ description: 'Name of the model to show.' }),
  mode: label.meta({ description: 'For example code, chat, ask or plan.' }),
  thinking: flag,
  reasoning: flag,
  planning: flag,
  fast: flag,
  filetree: text.meta({ description: 'Paths, one per line; end folders with a slash.' }),
  showFiletree: flag,
  showDiff: flag,
  diffFilename: textField({ max: 255 }).optional(),
  diffOldText: text,
  diffNewText: text,
  flashButton: z.enum(['accept']).optional().meta({ description: 'The button below the diff that pulses.' }),
  lightColor: color.meta({ description: 'The accent on light pages, as #rrggbb.' }),
  darkColor: color.meta({ description: 'The accent on dark pages, as #rrggbb.' }),
  themeMode: z.enum(['auto', 'light', 'dark']).optional().meta({ description: 'auto matches the system of the reader.' }),
  mcpTools: list.meta({ description: 'Tools, one per line, as server:tool.' }),
  showMcpTools: flag,
})

/** A configuration; every field may be missing. */
export type EmbedConfig = z.infer<typeof embedConfig>
/** The name of a field. */
type EmbedField = keyof EmbedConfig

/** Every field, in the order of the specification. */
export const EMBED_FIELDS = embedConfig.keyof().options
/** Fields that are on or off; off is the same as missing. */
const FLAGS: ReadonlySet<string> = new Set(EMBED_FIELDS.filter((field) => embedConfig.shape[field] === flag))
/** Fields that are about MCP. */
const MCP_FIELDS: ReadonlySet<string> = new Set<EmbedField>(['mcpTools', 'showMcpTools'])

/** Whether a field is on or off. */
export function isEmbedFlag(field: string): boolean {
  return FLAGS.has(field)
}

/** Whether a field is about MCP. */
export function isMcpField(field: string): boolean {
  return MCP_FIELDS.has(field)
}

/** The configuration without empty texts and disabled options, and with line feeds as line ends. */
export function tidyEmbedConfig(config: EmbedConfig): EmbedConfig {
  const said = EMBED_FIELDS.flatMap((field): [string, unknown][] => {
    const value = config[field]
    if (value === undefined || value === '' || value === false) return []
    return [[field, typeof value === 'string' ? value.replaceAll(/\r\n?/g, '\n') : value]]
  })
  return embedConfig.parse(Object.fromEntries(said))
}

/** The configuration without the fields about MCP. */
export function withoutMcp(config: EmbedConfig): EmbedConfig {
  const { mcpTools: _tools, showMcpTools: _show, ...rest } = config
  return rest
}

/** A saved embed configuration. */
export interface StoredEmbed {
  readonly id: string
  readonly config: EmbedConfig
  readonly createdAt: string
}

/** The groups of examples (specification, section 2.4). */
export const EMBED_CATEGORIES = ['coding', 'chat', 'planning', 'research', 'quick actions', 'MCP tools', 'image and video'] as const

/** A configuration to begin with. */
export const embedExample = z.object({
  value: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  label: z.string().min(1),
  category: z.enum(EMBED_CATEGORIES),
  config: embedConfig.strict(),
})

/** A configuration to begin with. */
export type EmbedExample = z.infer<typeof embedExample>

/** Every example, by category. */
export const EMBED_EXAMPLES: readonly EmbedExample[] = z.array(embedExample).parse(examples)

/** The examples that may be shown: without those about MCP where the service says nothing of it. */
export function listEmbedExamples(hasMcp: boolean, category?: string): EmbedExample[] {
  const wanted = category?.trim().toLowerCase() ?? ''
  return EMBED_EXAMPLES.filter((example) => hasMcp || !isAboutMcp(example)).filter(
    (example) => wanted === '' || example.category.toLowerCase() === wanted,
  )
}

/** The categories that may be shown. */
export function listEmbedCategories(hasMcp: boolean): EmbedExample['category'][] {
  return EMBED_CATEGORIES.filter((category) => hasMcp || category !== 'MCP tools')
}

function isAboutMcp({ category, config }: EmbedExample): boolean {
  return category === 'MCP tools' || Object.keys(config).some(isMcpField)
}
