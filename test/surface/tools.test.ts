import { describe, expect, it } from 'vitest'
import { describeTools } from '../../src/mcp/tools.ts'
import { OPERATIONS } from '../../src/operations/index.ts'

describe('the tools, as a model sees them', () => {
  const tools = describeTools(OPERATIONS)

  it('are few, short of name, and described in a few sentences', () => {
    expect(tools.length).toBeLessThanOrEqual(20)
    for (const { name, title, description = '', inputSchema } of tools) {
      expect(name).toMatch(/^[a-z_]{3,40}$/)
      expect(title, name).toMatch(/^[A-Z]/)
      expect([description.length > 60, description.length < 1024], name).toEqual([true, true])
      for (const [input, schema] of Object.entries(inputSchema.properties ?? {})) {
        expect(Object(schema).description, `${name}.${input} says what it is`).toEqual(expect.any(String))
      }
    }
  })

  it('are annotated honestly', () => {
    const hints = Object.fromEntries(
      tools.map(({ name, annotations }) => [
        name,
        [annotations?.readOnlyHint, annotations?.destructiveHint, annotations?.idempotentHint, annotations?.openWorldHint],
      ]),
    )
    expect(hints).toEqual({
      search_prompts: [true, false, true, false],
      get_prompt: [true, false, true, false],
      check_item: [true, false, true, false],
      save_prompt: [false, false, false, false],
      improve_prompt: [true, false, false, true],
      search_skills: [true, false, true, false],
      get_skill: [true, false, true, false],
      save_skill: [false, false, false, false],
      add_file_to_skill: [false, false, false, false],
      update_skill_file: [false, true, true, false],
      remove_file_from_skill: [false, true, false, false],
      update_prompt: [false, true, true, false],
      related_items: [true, false, true, false],
      list_collections: [true, false, true, false],
      add_to_collection: [false, false, true, false],
      list_categories: [true, false, true, false],
    })
  })

  it('take the inputs the specification names, those required and no others', () => {
    const inputs = Object.fromEntries(
      tools.map(({ name, inputSchema }) => [name, [Object.keys(inputSchema.properties ?? {}), inputSchema.required ?? []]]),
    )
    expect(inputs).toEqual({
      search_prompts: [['query', 'limit', 'type', 'category', 'tag', 'collections', 'maxCharacters'], ['query']],
      check_item: [['id', 'version', 'files', 'sarif'], []],
      get_prompt: [['id', 'label', 'version', 'bucket', 'variables'], ['id']],
      save_prompt: [
        ['title', 'content', 'messages', 'config', 'description', 'tags', 'category', 'isPrivate', 'visibility', 'owner', 'type', 'note'],
        ['title', 'content'],
      ],
      improve_prompt: [['prompt', 'outputType', 'outputFormat'], ['prompt']],
      search_skills: [['query', 'limit', 'category', 'tag', 'collections'], ['query']],
      get_skill: [['id', 'label', 'version', 'bucket', 'files', 'includeContents', 'maxCharacters'], ['id']],
      save_skill: [
        ['title', 'files', 'description', 'tags', 'category', 'isPrivate', 'visibility', 'owner', 'note'],
        ['title', 'files'],
      ],
      add_file_to_skill: [
        ['skillId', 'filename', 'content', 'encoding', 'baseVersion', 'note'],
        ['skillId', 'filename', 'content'],
      ],
      update_skill_file: [
        ['skillId', 'filename', 'content', 'encoding', 'baseVersion', 'note'],
        ['skillId', 'filename', 'content'],
      ],
      remove_file_from_skill: [
        ['skillId', 'filename', 'baseVersion', 'note'],
        ['skillId', 'filename'],
      ],
      update_prompt: [
        'id title content messages config description tags category type slug isPrivate visibility baseVersion base note'.split(' '),
        ['id'],
      ],
      related_items: [
        ['collection', 'id', 'limit'],
        ['collection', 'id'],
      ],
      list_collections: [['q', 'owner', 'item', 'mayEdit', 'page', 'perPage'], []],
      add_to_collection: [
        ['id', 'items', 'position'],
        ['id', 'items'],
      ],
      list_categories: [['all'], []],
    })
  })

  it('promise results under a schema, get_skill alone as text', () => {
    expect(tools.filter((tool) => tool.outputSchema === undefined).map((tool) => tool.name)).toEqual(['get_skill'])
  })
})
