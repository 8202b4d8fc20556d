// Measures the check of a set of 300 skills: comparing, and routing before and after a changed description, in processor time of both threads.
//   npm run bench:check-set
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rememberVectors } from '../src/ai/text-vectors.ts'
import { compareSkills } from '../src/check/set/likeness.ts'
import type { ListedSkill } from '../src/check/set/report.ts'
import { routeQueries } from '../src/check/set/routing.ts'
import { describeSkill } from '../src/domain/skills/frontmatter.ts'
import { createEncoder } from '../src/encoder/encoder.ts'
import { findTestData } from '../test/support/real-data.ts'

const SKILLS = 300
const QUERIES = 10
const ROUNDS = 9
const { signal } = new AbortController()

const encoder = createEncoder({ onFault: (message) => process.stderr.write(`${message}\n`) })
const { encodeTexts, encodeQuery } = rememberVectors(encoder)
const { skillsFolder } = findTestData()
const read = readdirSync(skillsFolder).flatMap((folder) => {
  const described = describeSkill(readFileSync(join(skillsFolder, folder, 'SKILL.md'), 'utf8'))
  return described.fault === null ? [described] : []
})
const skills = Array.from({ length: SKILLS }, (_, at): ListedSkill => {
  const { name = '', description = '', length = 0 } = read[at % read.length] ?? {}
  return { id: `${at}`, name: `${name}-${at}`, description: `${description} (${at})`, length }
})
const toTexts = (of: readonly ListedSkill[]) => of.map(({ name, description }) => ({ title: name, text: description }))

/** Median of the processor time of rounds, in milliseconds. `work` gets the number of the round. */
async function measure(rounds: number, work: (round: number) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage()
    await work(round)
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1000)
  }
  return times.toSorted((one, other) => one - other)[rounds >> 1] ?? 0
}

await encodeQuery('the first text loads the weights')
const first = await measure(1, () => encodeTexts(toTexts(skills), signal))
const oneQuery = await measure(ROUNDS, (round) => encodeQuery(`draw the figures of month ${round} as a chart`))
const vectors = (await encodeTexts(toTexts(skills), signal)).map((vector) => ({ description: vector, whole: vector }))
const compare = await measure(ROUNDS, async () => {
  for (const work = compareSkills(skills, vectors); !work.next().done; );
})
const route = await measure(ROUNDS, async (round) => {
  const queries = skills.slice(0, QUERIES).map(({ id, name }) => ({ query: `${name} of round ${round}`, skill: id, shouldTrigger: true }))
  const asked: (Float32Array | null)[] = []
  for (const { query } of queries) asked.push((await encodeQuery(query))?.vector ?? null)
  const changed = skills.map((skill, at) => (at === 0 ? { ...skill, description: `A new description of round ${round}` } : skill))
  for (const set of [skills, changed]) routeQueries(set, await encodeTexts(toTexts(set), signal), queries, asked)
})
await encoder.close()
const show = (what: string, ms: number) =>
  process.stdout.write(`${what}: ${ms.toFixed(1)} ms, ${(ms / oneQuery).toFixed(1)} times a query\n`)
show('encode one query', oneQuery)
show(`encode ${SKILLS} descriptions, once`, first)
show(`compare ${SKILLS} skills`, compare)
show(`route ${QUERIES} new queries before and after a changed description`, route)
