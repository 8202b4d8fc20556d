import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)
const BESIDE = new URL('../shared/data/', ROOT)

/** Prompts and skills to import. */
export interface TestData {
  readonly promptsFile: string
  readonly skillsFolder: string
}

/** The library that comes with the program: what tests import unless real data is their point. */
export const STARTER: TestData = {
  promptsFile: fileURLToPath(new URL('starter/prompts.json', ROOT)),
  skillsFolder: fileURLToPath(new URL('starter/skills', ROOT)),
}

/** Real data, with queries whose answers are known. */
export interface RealData extends TestData {
  readonly queriesFile: string
}

/** The folder of real data beside the checkout, or null where there is none. */
export function findRealData(): RealData | null {
  if (!existsSync(new URL('prompts.csv', BESIDE))) return null
  return {
    promptsFile: fileURLToPath(new URL('prompts.csv', BESIDE)),
    skillsFolder: fileURLToPath(new URL('skills', BESIDE)),
    queriesFile: fileURLToPath(new URL('queries-dev.tsv', BESIDE)),
  }
}

/** For measurements: the real data where there is any, else the starter library. Says which on stderr. */
export function findTestData(): TestData {
  const real = findRealData()
  process.stderr.write(
    real ? `Data: ${real.promptsFile}\n` : 'Data: the starter library, since there is no data folder beside the checkout\n',
  )
  return real ?? STARTER
}
