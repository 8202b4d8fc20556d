const PAGE_BITS = 12
const PAGE = 2 ** PAGE_BITS

/** Slots of items by their row numbers, which are mostly consecutive: four bytes for each. */
export function createSlotMap() {
  /** One more than the slot; 0 for none. */
  const pages = new Map<number, Uint32Array>()
  let size = 0
  const find = (seq: number) => pages.get(Math.floor(seq / PAGE))?.[seq % PAGE] ?? 0
  return {
    get size() {
      return size
    },
    get(seq: number): number | undefined {
      const found = find(seq)
      return found === 0 ? undefined : found - 1
    },
    set(seq: number, slot: number): void {
      const number = Math.floor(seq / PAGE)
      let page = pages.get(number)
      if (!page) {
        page = new Uint32Array(PAGE)
        pages.set(number, page)
      }
      if (page[seq % PAGE] === 0) size++
      page[seq % PAGE] = slot + 1
    },
    delete(seq: number): void {
      const page = pages.get(Math.floor(seq / PAGE))
      if (!page || page[seq % PAGE] === 0) return
      page[seq % PAGE] = 0
      size--
    },
    /** Every slot, in the order of the row numbers. */
    slots(): number[] {
      const all: number[] = []
      for (const number of [...pages.keys()].sort((a, b) => a - b)) {
        for (const found of pages.get(number) ?? []) if (found > 0) all.push(found - 1)
      }
      return all
    },
  }
}
