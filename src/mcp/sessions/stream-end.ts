/**
 * The same answer; `ended` is called once when its body is sent, fails, or its reader leaves. Without a body: at once. `breakOff` ends it
 * early.
 */
export function whenSent(response: Response, ended: () => void, breakOff?: AbortSignal): Response {
  const { body } = response
  if (!body) {
    ended()
    return response
  }
  let isOver = false
  const over = () => {
    if (isOver) return
    isOver = true
    ended()
  }
  const reader = body.getReader()
  const watched = new ReadableStream<Uint8Array>({
    start(controller) {
      breakOff?.addEventListener('abort', () => {
        if (isOver) return
        over()
        controller.error(breakOff.reason)
        void reader.cancel(breakOff.reason).catch(() => {})
      })
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        over()
        controller.close()
      } catch (error) {
        over()
        controller.error(error)
      }
    },
    async cancel(reason) {
      over()
      await reader.cancel(reason)
    },
  })
  return new Response(watched, { status: response.status, headers: response.headers })
}
