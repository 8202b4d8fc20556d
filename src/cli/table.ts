import { showControls } from '../library/controls.ts'

/** Fewest characters of a last column that are shown, however narrow the terminal is. */
const MIN_LAST_COLUMN = 20

/**
 * Rows as aligned columns, each cell on one line. The last column is cut to fit.
 * @param width characters of a line, or null for lines of any length
 */
export function formatTable(rows: readonly (readonly string[])[], width: number | null): string {
  const cells = rows.map((row) => row.map((cell) => showControls(cell).replaceAll(/\s+/g, ' ')))
  const widths: number[] = []
  for (const row of cells) for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  const before = widths.slice(0, -1).reduce((sum, columnWidth) => sum + columnWidth + 2, 0)
  const room = width === null ? Number.POSITIVE_INFINITY : Math.max(MIN_LAST_COLUMN, width - before)
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (column === widths.length - 1 ? cut(cell, room) : cell.padEnd(widths[column] ?? 0))).join('  ')
  return cells.map((row) => `${line(row).trimEnd()}\n`).join('')
}

function cut(text: string, length: number): string {
  return text.length <= length
    ? text
    : `${text
        .slice(0, length - 1)
        .toWellFormed()
        .replace(/\ufffd$/, '')}…`
}
