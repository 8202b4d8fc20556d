/** Positions of the primary that are remembered, while the replica has not replayed them. */
const MOST_MARKS = 64

/** How far a replica is behind, by positions in the write-ahead log in bytes. */
export interface Lag {
  /** @param replayed by the replica; @param written by the primary, a little later */
  note(replayed: number, written: number): void
  /** `seconds`: how long ago the primary was at a position that the replica has not reached, as far as somebody looked. */
  read(): { readonly bytes: number; readonly seconds: number }
}

/** @param nowMs a clock that never goes back */
export function createLag(nowMs: () => number = () => performance.now()): Lag {
  let marks: { readonly written: number; readonly at: number }[] = []
  let bytes = 0
  return {
    note(replayed, written) {
      bytes = Math.max(0, written - replayed)
      marks = marks.filter((mark) => mark.written > replayed)
      if (written > replayed) marks.push({ written, at: nowMs() })
      // The oldest says how long it is behind.
      if (marks.length > MOST_MARKS) marks = marks.filter((_, place) => place % 2 === 0)
    },
    read() {
      const [oldest] = marks
      return { bytes, seconds: oldest ? (nowMs() - oldest.at) / 1000 : 0 }
    },
  }
}
