const MAX_TOPIC = 48
const MAX_TOPIC_WORDS = 6

/** Words that point at something outside the sentence, or begin a new thought: a topic with one of them reads badly elsewhere. */
const POINTING = new Set(
  'i my me mine we us our you your this that these those it its following below above here them they their he she his her how what why when where which who whether if and but because while with from'.split(
    ' ',
  ),
)
/** Words at which a topic ends. */
const ENDING = new Set('for to in with from that which who where when while so because using by as at including without or but'.split(' '))

/**
 * What a request is about, when it says so in a few plain words; null otherwise.
 * @example findTopic('write blog post about cats for children') // 'cats'
 * @example findTopic('explain quantum computing to kids') // 'quantum computing'
 */
export function findTopic(request: string): string | null {
  const sentence = request.slice(0, 300).split(/[.!?\n;:,()"“$]/, 1)[0] ?? ''
  const words = sentence.trim().split(/\s+/)
  const lower = words.map((word) => word.toLowerCase())
  const about = lower.findIndex((word) => word === 'about' || word === 'regarding')
  const explained = lower[0] === 'explain' || lower[0] === 'teach' || lower[0] === 'analyze' || lower[0] === 'analyse' ? 0 : -1
  const from = about !== -1 ? about + 1 : explained + 1
  if (about === -1 && explained === -1) return null
  return readTopic(words.slice(from))
}

function readTopic(words: readonly string[]): string | null {
  const topic: string[] = []
  for (const word of words) {
    if (ENDING.has(word.toLowerCase()) && topic.length > 0) break
    topic.push(word)
  }
  const text = topic.join(' ')
  const isPlain = topic.length > 0 && topic.length <= MAX_TOPIC_WORDS && text.length <= MAX_TOPIC && /^[\p{L}\p{M}\p{N} '’-]+$/u.test(text)
  return isPlain && !topic.some((word) => POINTING.has(word.toLowerCase())) ? text : null
}
