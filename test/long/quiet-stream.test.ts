import { expect, it, onTestFinished } from 'vitest'
import { startModelServer } from '../support/model-server.ts'
import { createPlaceWithKey } from '../support/processes.ts'
import { json } from '../support/test-app.ts'

/** The built program, a model server, real connections. */

it('the service keeps a quiet stream alive while it waits for a model', async () => {
  const models = await startModelServer()
  const { place, key } = await createPlaceWithKey('ada')
  onTestFinished(models.stop)
  onTestFinished(place.remove)
  const using = { IMPROVE_MODEL: 'never:quiet', OPENAI_BASE_URL: models.baseUrl, OPENAI_API_KEY: 'sk-very-secret-key' }
  const { url } = await place.serve({ env: { ...using, IMPROVE_TIMEOUT_SECONDS: '12' }, instances: 1 })
  const headers = { 'content-type': 'application/json', 'x-api-key': key, accept: 'text/event-stream' }
  const response = await fetch(`${url}/api/improve-prompt`, { ...json('POST', { prompt: 'greet ${who} from the walrus' }), headers })
  const text = await response.text()
  expect([response.status, text.startsWith(': keep-alive\n\n')]).toEqual([200, true])
  expect(text).toMatch(/event: error\ndata: \{"error":"upstream_failed","message":"never:quiet did not finish within 12 seconds\."/)
})
