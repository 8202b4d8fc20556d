import { describeTools } from '../../src/mcp/tools.ts'
import { OPERATIONS } from '../../src/operations/index.ts'
import { encode } from '../../tools/gpt-tokenizer.ts'

/** What one tool costs a model that is shown it, in tokens. */
export interface ToolCost {
  readonly name: string
  /** Name, description and input schema. */
  readonly input: number
  readonly output: number
}

/** What the tools cost a model, each for itself. */
export function measureTools(): ToolCost[] {
  const count = (value: unknown): number => encode(JSON.stringify(value)).length
  return describeTools(OPERATIONS).map(({ name, description, inputSchema, outputSchema }) => ({
    name,
    input: count({ name, description, inputSchema }),
    output: outputSchema ? count(outputSchema) : 0,
  }))
}
