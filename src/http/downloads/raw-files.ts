import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { writePromptMarkdown } from '../../library/prompt-markdown.ts'
import type { Operation } from '../../operations/core/define-operation.ts'
import { invokeLocally } from '../../operations/core/invoke.ts'
import { promptRecord } from '../../operations/core/records.ts'
import type { HttpEnv, MakeContext } from '../call.ts'
import type { Route } from '../route.ts'
import { downloadHeaders } from './download.ts'

const fileShape = z.object({ content: z.string(), encoding: z.literal('base64').optional() })

function download(bytes: Uint8Array<ArrayBuffer>, isText: boolean, filename: string): Response {
  return new Response(bytes, { headers: downloadHeaders(isText ? 'text/plain; charset=utf-8' : 'application/octet-stream', filename) })
}

/**
 * Routes that answer bytes instead of JSON: a skill's file, a prompt's text, and a prompt as a file with what is known of it.
 * @param prefix where they stand: below /api for programs with their keys, elsewhere for people who are signed in
 */
export function addRawRoutes(app: Hono<HttpEnv>, operations: readonly Operation[], makeContext: MakeContext, prefix: string): Route[] {
  const invokeFor = (c: Context<HttpEnv>) => invokeLocally(operations, () => makeContext(c.get('call').actor))
  const showPrompt = async (c: Context<HttpEnv>) => promptRecord.parse(await invokeFor(c)('show_prompt', { id: c.req.param('id') }))
  app.get(`${prefix}/skills/:skillId/files/:filename{.+}`, async (c) => {
    const { skillId, filename } = c.req.param()
    const file = fileShape.parse(await invokeFor(c)('get_skill_file', { skillId, filename }))
    const bytes = new Uint8Array(Buffer.from(file.content, file.encoding ?? 'utf8'))
    return download(bytes, file.encoding === undefined, filename.split('/').at(-1) ?? filename)
  })
  app.get(`${prefix}/prompts/:id/raw`, async (c) => {
    const prompt = await showPrompt(c)
    return download(new TextEncoder().encode(prompt.content), true, `${prompt.slug}.txt`)
  })
  app.get(`${prefix}/prompts/:id/prompt.md`, async (c) => {
    const prompt = await showPrompt(c)
    return download(new TextEncoder().encode(writePromptMarkdown(prompt)), true, `${prompt.slug}.prompt.md`)
  })
  return ['/skills/{skillId}/files/{filename}', '/prompts/{id}/raw', '/prompts/{id}/prompt.md'].map((path) => ({
    method: 'GET',
    path: `${prefix}${path}`,
    kind: 'download',
    cost: 2,
  }))
}
