import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)
const REAL = new URL('../shared/data/', ROOT)

/** The library that end-to-end tests import: a folder of real data beside the checkout where there is one, else the starter library. */
export interface TestData {
  readonly isReal: boolean
  readonly promptsFile: string
  readonly skillsFolder: string
}

/** Finds the data, and says so when it is the starter library. */
export function findTestData(): TestData {
  const isReal = existsSync(new URL('prompts.csv', REAL))
  if (!isReal) process.stderr.write('No data folder beside the checkout: the tests use the starter library instead.\n')
  return isReal
    ? { isReal, promptsFile: fileURLToPath(new URL('prompts.csv', REAL)), skillsFolder: fileURLToPath(new URL('skills', REAL)) }
    : {
        isReal,
        promptsFile: fileURLToPath(new URL('starter/prompts.json', ROOT)),
        skillsFolder: fileURLToPath(new URL('starter/skills', ROOT)),
      }
}
