import { createHash } from 'node:crypto'
import { z } from 'zod'

/** A save that the service answered with 2xx: from then on it must be there. */
export interface Acknowledged {
  readonly id: string
  readonly version: number
  /** SHA-256 of the content. */
  readonly digest: string
  /** Who may read it. */
  readonly key: string
}

/** How the title of a prompt begins that had to be refused. */
export const REFUSED_TITLE = 'Refused of writer'
/** Items asked for at once when they are read back. */
const READERS = 32
/** Faults that are told one by one. */
const MOST_TOLD = 10
const VERSIONS_A_PAGE = 100

const promptShape = z.object({ content: z.string(), versions: z.array(z.object({ version: z.int() })) })
const foundShape = z.object({ prompts: z.array(z.object({ title: z.string() })) })
const versionShape = z.object({ content: z.string() })
const versionsShape = z.object({ versions: z.array(z.object({ version: z.int() })), nextBefore: z.int().nullable() })

export function digestOf(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Reads every acknowledged save back; gives what is not there, or not as it was acknowledged, and what is there though it was refused. */
export async function findLost(
  url: string,
  saves: readonly Acknowledged[],
): Promise<{ readonly lost: number; readonly told: readonly string[] }> {
  const told: string[] = []
  let lost = 0
  const lose = (what: string) => {
    lost++
    if (told.length < MOST_TOLD) told.push(what)
  }
  for (const key of new Set(saves.map((save) => save.key)))
    for (const title of await findRefused(url, key)) lose(`"${title}" was refused and is there`)
  const byItem = Map.groupBy(saves, ({ id }) => id)
  const waiting = [...byItem]
  const readOn = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) await checkItem(url, next[0], next[1], lose)
  }
  await Promise.all(Array.from({ length: READERS }, readOn))
  return { lost, told }
}

/** Titles of prompts that were refused, and that the holder of a key finds all the same. */
async function findRefused(url: string, key: string): Promise<string[]> {
  const answer = await fetch(`${url}/api/prompts?q=${encodeURIComponent(REFUSED_TITLE)}&perPage=100`, { headers: { 'X-API-Key': key } })
  const { prompts } = foundShape.parse(await answer.json())
  return prompts.map(({ title }) => title).filter((title) => title.startsWith(REFUSED_TITLE))
}

async function checkItem(url: string, id: string, saves: readonly Acknowledged[], lose: (what: string) => void): Promise<void> {
  const headers = { 'X-API-Key': saves[0]?.key ?? '' }
  const read = async <T>(path: string, shape: z.ZodType<T>): Promise<T | null> => {
    const answer = await fetch(`${url}/api/prompts/${id}${path}`, { headers })
    const body: unknown = await answer.json()
    return answer.ok ? shape.parse(body) : null
  }
  const current = await read('', promptShape)
  if (!current) return lose(`${id} is gone, with ${saves.length} saves`)
  const last = saves.reduce((one, other) => (other.version > one.version ? other : one))
  const newest = current.versions[0]?.version ?? 0
  if (newest < last.version) lose(`${id} is at version ${newest}, and ${last.version} was acknowledged`)
  if (newest === last.version && digestOf(current.content) !== last.digest) lose(`${id} does not say what was acknowledged`)

  const numbers: number[] = []
  for (let before: number | null = null, isFirst = true; isFirst || before !== null; isFirst = false) {
    const page: z.infer<typeof versionsShape> | null = await read(
      `/versions?limit=${VERSIONS_A_PAGE}${before === null ? '' : `&before=${before}`}`,
      versionsShape,
    )
    numbers.push(...(page?.versions ?? []).map(({ version }) => version))
    before = page?.nextBefore ?? null
  }
  const written = new Set(numbers)
  if (written.size !== numbers.length) lose(`${id} has a version twice`)
  if (numbers.length > 0 && Math.max(...numbers) !== written.size) lose(`${id} has a gap in its versions`)
  const seen = new Set<number>()
  for (const { version, digest } of saves) {
    if (seen.has(version)) lose(`version ${version} of ${id} was acknowledged to two writers`)
    seen.add(version)
    const kept = written.has(version) ? await read(`/versions/${version}`, versionShape) : null
    if (!kept) lose(`version ${version} of ${id} is gone`)
    else if (digestOf(kept.content) !== digest) lose(`version ${version} of ${id} does not say what was acknowledged`)
  }
}
