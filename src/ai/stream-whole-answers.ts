import { z } from 'zod'

const wholeAnswer = z.looseObject({
  choices: z.tuple([z.looseObject({ message: z.looseObject({ content: z.string() }), finish_reason: z.string().nullish() })], z.unknown()),
})

/**
 * `fetch` for servers that speak OpenAI's protocol but do not stream: an answer that comes whole, as JSON, is turned into the
 * stream that was asked for. Everything else is handed on as it is.
 */
export function streamWholeAnswers(fetcher: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await fetcher(input, init)
    if (!response.ok || !/^application\/json\b/i.test(response.headers.get('content-type') ?? '')) return response
    const text = await response.text()
    const choice = readWhole(text)?.choices[0]
    if (!choice) return new Response(text, { status: response.status, headers: response.headers })
    const { message, finish_reason: reason } = choice
    const chunks = [
      { delta: { role: 'assistant', content: message.content }, finish_reason: null },
      { delta: {}, finish_reason: reason ?? 'stop' },
    ]
    const events = chunks.map((chunk) => `data: ${JSON.stringify({ choices: [{ index: 0, ...chunk }] })}\n\n`)
    return new Response(`${events.join('')}data: [DONE]\n\n`, { headers: { 'Content-Type': 'text/event-stream' } })
  }
}

function readWhole(text: string): z.infer<typeof wholeAnswer> | undefined {
  try {
    return wholeAnswer.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
