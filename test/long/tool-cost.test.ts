import { expect, it } from 'vitest'
import { measureTools } from '../support/tool-cost.ts'

it('the MCP tools cost a model at most 4,800 tokens together, output schemas apart', () => {
  expect(measureTools().reduce((total, tool) => total + tool.input, 0)).toBeLessThanOrEqual(4800)
})
