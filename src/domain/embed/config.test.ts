import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readEmbedQuery, writeEmbedQuery } from '../../web/embed/addresses.ts'
import { EMBED_CATEGORIES, EMBED_EXAMPLES, embedExample, listEmbedExamples, tidyEmbedConfig } from './config.ts'

describe('examples of embeds', () => {
  it('are at least nineteen, over all categories, each under a name of its own', () => {
    expect(z.array(embedExample).parse(EMBED_EXAMPLES).length).toBeGreaterThanOrEqual(19)
    for (const category of EMBED_CATEGORIES) expect(listEmbedExamples(true, category).length, category).toBeGreaterThanOrEqual(3)
    for (const name of ['value', 'label'] as const) {
      expect(new Set(EMBED_EXAMPLES.map((example) => example[name])).size).toBe(EMBED_EXAMPLES.length)
    }
  })

  it('use every field, and only what an address carries', () => {
    const used = new Set(EMBED_EXAMPLES.flatMap(({ config }) => Object.keys(config)))
    expect([...used].toSorted()).toEqual(Object.keys(embedExample.shape.config.shape).toSorted())
    for (const { config, value } of EMBED_EXAMPLES) {
      expect(tidyEmbedConfig(config), value).toEqual(config)
      expect(readEmbedQuery(writeEmbedQuery(config)).config, value).toEqual(config)
    }
  })

  it('are found by category, whatever the case', () => {
    expect(listEmbedExamples(true, ' mcp TOOLS').map(({ category }) => category)).toEqual(['MCP tools', 'MCP tools', 'MCP tools'])
    expect(listEmbedExamples(true, 'cooking')).toEqual([])
  })
})
