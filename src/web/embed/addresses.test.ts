import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EmbedConfig, embedConfig, MAX_EMBED_PROMPT, tidyEmbedConfig } from '../../domain/embed/config.ts'
import { readEmbedQuery, writeEmbedQuery } from './addresses.ts'

const text = (maxLength: number) => fc.string({ unit: 'grapheme', maxLength }).filter((one) => !one.includes('\0'))
const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)
/** Any configuration the schema allows. */
const anyConfig: fc.Arbitrary<EmbedConfig> = fc
  .record(
    {
      ...{ prompt: text(400), context: text(100), model: text(60), mode: text(60), filetree: text(200) },
      ...{ thinking: fc.boolean(), reasoning: fc.boolean(), planning: fc.boolean(), fast: fc.boolean() },
      ...{ showFiletree: fc.boolean(), showDiff: fc.boolean(), showMcpTools: fc.boolean() },
      ...{ diffFilename: text(60), diffOldText: text(200), diffNewText: text(200) },
      ...{ flashButton: fc.constant('accept' as const), lightColor: color, darkColor: color },
      themeMode: fc.constantFrom('auto' as const, 'light' as const, 'dark' as const),
      mcpTools: fc.array(fc.constantFrom('a:b', 'github:create_issue', 'x:y:z'), { maxLength: 5 }).map((lines) => lines.join('\n')),
    },
    { requiredKeys: [] },
  )
  .filter((config) => embedConfig.safeParse(config).success)

describe('a configuration in an address', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(anyConfig, (config) => {
        const read = readEmbedQuery(new URLSearchParams(writeEmbedQuery(config).toString()))
        expect(read).toEqual({ config: tidyEmbedConfig(config), faults: [] })
      }),
    )
  })

  it('names lines of tools that are none, by number', () => {
    const { config, faults } = readEmbedQuery(new URLSearchParams({ mcpTools: 'a:b\nbad\n:x\ny:' }))
    expect(config).toEqual({ mcpTools: 'a:b\nbad\n:x\ny:' })
    expect(faults).toEqual([{ field: 'mcpTools', message: 'must be server:tool on each line; lines 2, 3, 4 are not' }])
    const many = readEmbedQuery(new URLSearchParams({ mcpTools: 'x\n'.repeat(12) }))
    expect(many.faults[0]?.message).toContain('8, 9, 10 and 2 more are not')
  })

  it('leaves out what is bad and names it, and never says what was given', () => {
    const query = new URLSearchParams({
      prompt: 'x'.repeat(MAX_EMBED_PROMPT + 1),
      model: 'a\0b',
      thinking: 'yes',
      lightColor: 'red;}<script>',
      themeMode: 'sepia',
      flashButton: 'reject',
      mode: 'plan',
      nothing: 'of this',
    })
    query.append('mode', 'second')
    const { config, faults } = readEmbedQuery(query)
    expect(config).toEqual({ mode: 'plan' })
    expect(faults).toEqual([
      { field: 'prompt', message: 'has 10001 characters; the limit is 10000' },
      { field: 'model', message: 'contains a NUL, which cannot be stored' },
      { field: 'mode', message: 'is given 2 times; only the first is used' },
      { field: 'thinking', message: 'must be true or false' },
      { field: 'flashButton', message: 'must be one of: accept' },
      { field: 'lightColor', message: 'must be a colour such as #3b82f6' },
      { field: 'themeMode', message: 'must be one of: auto, light, dark' },
    ])
  })

  it('takes line ends as forms send them, and what is empty or off as missing', () => {
    const query = new URLSearchParams({ prompt: 'a\r\nb\rc', context: '', fast: 'false', lightColor: '' })
    expect(readEmbedQuery(query)).toEqual({ config: { prompt: 'a\nb\nc' }, faults: [] })
  })
})
