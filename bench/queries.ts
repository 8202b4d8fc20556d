import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readPromptFile } from '../src/transfer/prompt-file.ts'

const MAX_TITLES = 200

/** Queries people asked: of the file, or `queries-dev.tsv` beside the prompts; titles of prompts where there is none. */
export async function readQueries(promptsFile: string, queriesFile?: string): Promise<string[]> {
  const file = queriesFile ?? join(dirname(promptsFile), 'queries-dev.tsv')
  if (existsSync(file)) {
    const [head = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n')
    const column = head.split('\t').indexOf('query')
    return lines.map((line) => line.split('\t')[column] ?? '')
  }
  const titles: string[] = []
  for await (const row of readPromptFile(promptsFile)) if ('draft' in row && titles.length < MAX_TITLES) titles.push(row.draft.title)
  return titles
}
