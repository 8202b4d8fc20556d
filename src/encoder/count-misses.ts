import type { Encoder } from '../library/ports/encoder.ts'

/** An encoder that counts the queries it left unanswered while it starts or is busy: what was found without it soon has a better answer. */
export interface CountingEncoder extends Encoder {
  readonly misses: number
}

export function countMisses(encoder: Encoder): CountingEncoder {
  let misses = 0
  return {
    ...encoder,
    get misses() {
      return misses
    },
    async encodeQuery(text) {
      const answer = await encoder.encodeQuery(text)
      if (answer === null && encoder.state() !== 'fallback') misses++
      return answer
    },
  }
}
