/** Rows of a page, for tables with small rows. */
export const SMALL_ROWS = 1000

/** Rows of a table numbered by `seq`, a page at a time. */
export async function* walk<Row extends { readonly seq: number }>(readPage: (after: number) => Promise<Row[]>): AsyncGenerator<Row> {
  for (let after = 0; ; ) {
    const rows = await readPage(after)
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    after = last.seq
  }
}

/** Rows in the order of a text that each has once, a page at a time. */
export async function* walkTexts<Row>(readPage: (after: string) => Promise<Row[]>, textOf: (row: Row) => string): AsyncGenerator<Row> {
  for (let after = ''; ; ) {
    const rows = await readPage(after)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined) return
    after = textOf(last)
  }
}
