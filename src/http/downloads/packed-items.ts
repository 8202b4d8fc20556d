import { EXPORT_NAMES } from '../../library/exported-items.ts'
import { fromFileContent, type SkillFile } from '../../library/skill.ts'
import { createZipWriter } from '../../library/zip-writer.ts'
import type { exportOwnItems } from '../../operations/account/account.ts'
import type { Output } from '../../operations/core/define-operation.ts'
import type { listCategories } from '../../operations/items/list-categories.ts'

type Part = Output<typeof exportOwnItems>
/** Reads the next part of a person's items. */
export type ReadPart = (input: { collection: 'prompts' | 'skills'; after: number }) => Promise<Part>

async function* parts(read: ReadPart, collection: 'prompts' | 'skills') {
  for (let after: number | null = 0; after !== null; ) {
    const part: Part = await read({ collection, after })
    yield part
    after = part.next
  }
}

/** Packs items as an exported library, with other files before them, as they are read. */
export async function* packItems(
  read: ReadPart,
  categories: Output<typeof listCategories>['categories'],
  others: () => AsyncIterable<readonly [name: string, content: unknown]>,
): AsyncGenerator<Uint8Array> {
  const utf8 = new TextEncoder()
  const zip = createZipWriter()
  /** A file in pieces. */
  async function* add(file: SkillFile): AsyncGenerator<Uint8Array> {
    for (const _ of zip.add(file)) {
      yield* zip.take()
    }
  }
  const json = (name: string, content: unknown) => add({ filename: name, bytes: utf8.encode(`${JSON.stringify(content, null, 2)}\n`) })
  for await (const [name, content] of others()) yield* json(name, content)
  const tree = categories.map(({ slug, name, parent }) => ({ slug, name, parent }))
  yield* json(EXPORT_NAMES.categories, tree)
  const prompts = zip.open(EXPORT_NAMES.prompts)
  for await (const { lines } of parts(read, 'prompts')) {
    prompts.push(utf8.encode(lines.map((line) => `${line}\n`).join('')), false)
    yield* zip.take()
  }
  prompts.push(new Uint8Array(0), true)
  const index: unknown[] = []
  for await (const { skills } of parts(read, 'skills')) {
    for (const { entry, files } of skills) {
      index.push(entry)
      for (const one of files) {
        const file = fromFileContent(one, '')
        yield* add({ ...file, filename: `${EXPORT_NAMES.skillsFolder}/${entry.folder}/${file.filename}` })
      }
    }
  }
  yield* json(EXPORT_NAMES.skillsIndex, index)
  zip.end()
  yield* zip.take()
}
