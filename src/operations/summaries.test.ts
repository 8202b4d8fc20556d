import { expect, it } from 'vitest'
import { describeInputs } from './core/describe-inputs.ts'
import { OPERATIONS } from './index.ts'

const shown = OPERATIONS.filter(({ surfaces }) => surfaces.rest || surfaces.cli)

it.each(shown.map((operation) => [operation.name, operation] as const))(
  '%s is described to people, not to clients of MCP',
  (_, operation) => {
    const texts = [operation.summary, ...describeInputs(operation).map(({ description }) => description)].join(' ')
    for (const { name } of OPERATIONS) if (name.includes('_')) expect(texts).not.toMatch(new RegExp(`\\b${name}\\b`))
    expect(texts).not.toMatch(/\btools?\b|clients that can ask/)
  },
)

it.each(['update_prompt', 'update_skill'])('%s says that visibility stays', (name) => {
  const operation = OPERATIONS.find((one) => one.name === name)
  const input = operation && describeInputs(operation).find((one) => one.name === 'isPrivate')
  expect(input?.description).toMatch(/Default: unchanged\.?$/)
})
