import type { Improver, LanguageModel, ModelMessage } from '../../domain/ports/models.ts'
import { unlessAborted } from '../../domain/service/unless-aborted.ts'
import { cutCharacters, isBlank } from '../../domain/text/characters.ts'
import { AppError } from '../../errors.ts'
import type { ImproveRequest } from '../improve-request.ts'
import { chooseMark, writeComplaint, writeQuestion, writeSystem } from './ask.ts'
import { MAX_IMPROVED, readAnswer } from './read-answer.ts'

/** A piece of an answer on its way: text to append, or the news that what came so far is void because the model is asked again. */
type TextPart = { readonly kind: 'delta'; readonly text: string } | { readonly kind: 'restart' }

/** Takes the pieces of an answer; the next one is waited for until it is done, so that a slow reader slows the model down. */
export type OnText = (part: TextPart) => Promise<void>

/** How much of an answer that cannot be used the model is shown again, in characters. */
const MAX_SHOWN_AGAIN = 20_000

/**
 * Has a model improve a prompt. An answer that cannot be used is asked for once more, saying why.
 * @param call.deadline aborted when the time is over, `improver.timeoutMs` from now
 * @throws AppError `upstream_failed` when the model fails, takes too long, or answers twice with something that cannot be used; `unavailable` when `signal` was aborted
 */
export async function improveWithModel(
  model: LanguageModel,
  request: ImproveRequest,
  improver: Improver,
  call: { deadline: AbortSignal; signal?: AbortSignal | undefined; onText?: OnText | undefined },
): Promise<string> {
  const { deadline } = call
  const signal = call.signal ? AbortSignal.any([deadline, call.signal]) : deadline
  const tell = async (part: TextPart) => {
    if (call.onText) await unlessAborted(call.onText(part), signal)
  }
  const mark = chooseMark(improver.drawLetters, request)
  const system = writeSystem(improver.systemPrompt, request, mark)
  const ask = async (messages: readonly ModelMessage[]): Promise<string> => {
    let answer = ''
    const { maxOutputTokens, timeoutMs } = improver
    for await (const text of model.streamText({ system, messages, maxOutputTokens, timeoutMs, signal })) {
      answer += text
      // In UTF-16 units: twice the limit in characters is over it in any case.
      if (answer.length > MAX_IMPROVED * 2) {
        throw new AppError('upstream_failed', `${model.name} wrote more than ${MAX_IMPROVED} characters and was stopped.`)
      }
      await tell({ kind: 'delta', text })
    }
    return answer
  }
  try {
    const question: ModelMessage = { role: 'user', content: writeQuestion(request, mark) }
    const first = await ask([question])
    const read = readAnswer(first, request.prompt, request.outputFormat)
    if (read.ok) return read.improved
    await tell({ kind: 'restart' })
    const complaint = writeComplaint(read.fault, read.missing, mark)
    const again = readAnswer(await ask(askAgain(question, first, complaint)), request.prompt, request.outputFormat)
    if (again.ok) return again.improved
    throw new AppError('upstream_failed', `${model.name} answered twice with something that cannot be used: ${again.fault}.`)
  } catch (error) {
    if (call.signal?.aborted) throw new AppError('unavailable', 'The caller left before the answer was done.')
    if (deadline.aborted) {
      throw new AppError('upstream_failed', `${model.name} did not finish within ${Math.round(improver.timeoutMs / 1000)} seconds.`)
    }
    throw error
  }
}

/** The conversation that asks again. Some models take no empty turn, and none of them two of one side in a row. */
function askAgain(question: ModelMessage, answer: string, complaint: string): ModelMessage[] {
  if (isBlank(answer)) return [{ role: 'user', content: `${question.content}\n\n${complaint}` }]
  return [question, { role: 'assistant', content: cutCharacters(answer, MAX_SHOWN_AGAIN) }, { role: 'user', content: complaint }]
}
