// What the tools cost a model: tokens of names, descriptions and input schemas, and of output schemas apart.
import { measureTools } from '../test/support/tool-cost.ts'

const costs = measureTools()
const sum = (field: 'input' | 'output') => costs.reduce((total, cost) => total + cost[field], 0)
const line = (input: number, output: number, name: string) =>
  process.stdout.write(`${String(input).padStart(6)}  ${String(output).padStart(6)}  ${name}\n`)
for (const { name, input, output } of costs) line(input, output, name)
line(sum('input'), sum('output'), 'all (names, descriptions and input schemas; output schemas)')
