import type { ExportReader } from '../storage/store.ts'

const PROMPTS_A_PAGE = 200
/** Fewer, as skills come with all their files, of up to 8 MiB each. */
const SKILLS_A_PAGE = 5

async function* readPages<T extends { readonly order: number }>(limit: number, read: (after: number) => Promise<readonly T[]>) {
  for (let after = 0; ; ) {
    const page = await read(after)
    yield* page
    if (page.length < limit) return
    after = page.at(-1)?.order ?? after
  }
}

/** The prompts of an owner, or of everybody. */
export const readPrompts = (reader: ExportReader, ownerId: string | null) =>
  readPages(PROMPTS_A_PAGE, (after) => reader.exportPrompts(ownerId, after, PROMPTS_A_PAGE))

/** The skills of an owner, or of everybody, with their files. */
export const readSkills = (reader: ExportReader, ownerId: string | null) =>
  readPages(SKILLS_A_PAGE, (after) => reader.exportSkills(ownerId, after, SKILLS_A_PAGE))
