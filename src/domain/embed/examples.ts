import { z } from 'zod'
import { embedConfig, isMcpField } from './config.ts'
import examples from './examples.json' with { type: 'json' }

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
