import { type CaseGrader, type CaseProblem, type EvalCase, toCaseId } from '../domain/evals/evals.ts'
import { toText } from '../domain/text/read-fields.ts'

/** Shortest expected answer, and shortest statement or part of an answer, that count as given away when the prompt has it, in characters. */
const MIN_ANSWER = 8
const MIN_PART = 20
/** Longest part of a prompt in which answers are looked for. */
const MAX_ASKED = 20_000
/** Lengths of prompts times those of the answers that are looked for in them, of all cases together. */
const MAX_SEARCHED = 200_000_000
/** Variables that hold the answer, not the question. */
const ANSWERS = new Set(['expected', 'expected_output', 'answer', 'reference', 'ground_truth'])
const PARTS = new Set(['contains', 'icontains', 'starts-with', 'istarts-with', 'iends-with'])

export const TWIN = 'another case has the same name: their results cannot be told apart'

const plain = (text: string) => text.toLowerCase().replaceAll(/\s+/g, ' ').trim()

/** Checks cases without a model: names, graders, and prompts that give the answer away. */
export function checkCases(cases: readonly EvalCase[]): CaseProblem[] {
  const seen = new Set<string>()
  const room = { left: MAX_SEARCHED }
  return cases.flatMap((one) => {
    const problems = checkCase(one, room)
    if (seen.has(one.id)) problems.push(TWIN)
    seen.add(one.id)
    return problems.map((problem) => ({ file: one.file, case: one.id, problem }))
  })
}

function checkCase({ input, graders, expected, shouldTrigger }: EvalCase, room: { left: number }): string[] {
  const asked = plain(
    typeof input === 'string'
      ? input
      : Object.entries(input)
          .flatMap(([name, value]) => (ANSWERS.has(name) ? [] : [typeof value === 'string' ? value : (JSON.stringify(value) ?? '')]))
          .join('\n'),
  ).slice(0, MAX_ASKED)
  const names = graders.flatMap(({ name }) => (name === null ? [] : [name]))
  const repeated = new Set(names.filter((name, place) => names.indexOf(name) !== place))
  const givesAway = (answer: unknown, min: number) => {
    const said = typeof answer === 'string' ? plain(answer) : ''
    if (said.length < min || said.length > asked.length) return false
    room.left -= asked.length * said.length
    return room.left >= 0 && asked.includes(said)
  }
  return [
    ...(typeof input === 'string' && asked === '' ? ['has no prompt'] : []),
    ...(graders.length === 0 && shouldTrigger === null ? ['has no grader: nothing decides whether it passes'] : []),
    ...[...repeated].slice(0, 3).map((name) => `two graders have the name ${toCaseId(name)}`),
    ...(givesAway(expected, MIN_ANSWER) ? ['the prompt contains the expected answer'] : []),
    ...graders.flatMap((grader) => {
      const { kind, text, value, name } = grader
      const answer = kind === 'rubric' ? text : value
      const isAnswer = kind === 'equals' || kind === 'rubric' || PARTS.has(kind)
      const fault =
        isAnswer && givesAway(answer, kind === 'equals' ? MIN_ANSWER : MIN_PART)
          ? 'looks for what the prompt already contains'
          : findGraderFault(grader)
      return fault === null ? [] : [`the grader ${toCaseId(name ?? kind)} ${fault}`]
    }),
  ]
}

/** Why a grader can never decide anything; null for none. `tool_used` has a `min` of 1 unless it says otherwise (plugin-evals, "Graders"). */
function findGraderFault({ kind, text, value, weight, settings }: CaseGrader): string | null {
  if (weight !== null && weight <= 0) return 'has no weight above 0'
  if (kind === 'rubric' && (text ?? '').trim() === '') return 'has no criteria'
  if (kind === 'tool_used' && settings['max'] === 0 && settings['min'] !== 0) return 'can never pass: max is 0, and min is 1 by default'
  if (!/^(?:not-)?regex$/.test(kind)) return null
  try {
    new RegExp(toText(value ?? ''), typeof settings['flags'] === 'string' ? settings['flags'] : '')
    return value === null || value === '' ? 'has no pattern' : null
  } catch {
    return 'has a regular expression that is not valid'
  }
}
