import type { Context, Hono } from 'hono'
import { writePromptMarkdown } from '../../library/prompt-markdown.ts'
import { callLocally } from '../../operations/core/invoke.ts'
import { getPrompt } from '../../operations/prompts/get-prompt.ts'
import { showPrompt } from '../../operations/prompts/show-prompt.ts'
import { getSkillFile } from '../../operations/skills/get-skill.ts'
import type { HttpEnv, MakeContext } from '../call.ts'
import type { Route } from '../route.ts'
import { downloadHeaders } from './download.ts'

function download(bytes: Uint8Array<ArrayBuffer>, isText: boolean, filename: string): Response {
  return new Response(bytes, { headers: downloadHeaders(isText ? 'text/plain; charset=utf-8' : 'application/octet-stream', filename) })
}

/**
 * Routes that answer bytes instead of JSON: a skill's file, a prompt's text, as it is or with its defaults, and a prompt as a file with its metadata.
 * @param prefix of their paths: below /api for programs with keys, elsewhere for signed-in people
 */
export function addRawRoutes(app: Hono<HttpEnv>, makeContext: MakeContext, prefix: string): Route[] {
  const callFor = (c: Context<HttpEnv>) => callLocally(() => makeContext(c.get('call').actor))
  const readPrompt = (c: Context<HttpEnv>) => callFor(c)(showPrompt, { id: c.req.param('id') ?? '' })
  app.get(`${prefix}/skills/:skillId/files/:filename{.+}`, async (c) => {
    const { skillId, filename } = c.req.param()
    const file = await callFor(c)(getSkillFile, { skillId, filename })
    const bytes = new Uint8Array(Buffer.from(file.content, file.encoding ?? 'utf8'))
    return download(bytes, file.encoding === undefined, filename.split('/').at(-1) ?? filename)
  })
  app.get(`${prefix}/prompts/:id/raw`, async (c) => {
    const prompt = await readPrompt(c)
    return download(new TextEncoder().encode(prompt.content), true, `${prompt.slug}.txt`)
  })
  app.get(`${prefix}/prompts/:id/prompt.md`, async (c) => {
    const prompt = await readPrompt(c)
    return download(new TextEncoder().encode(writePromptMarkdown(prompt)), true, `${prompt.slug}.prompt.md`)
  })
  const paths = ['/skills/{skillId}/files/{filename}', '/prompts/{id}/raw', '/prompts/{id}/prompt.md']
  // What lists on the pages copy. Programs fill in a prompt with get_prompt.
  if (prefix !== '/api') {
    app.get(`${prefix}/prompts/:id/filled`, async (c) => {
      const prompt = await callFor(c)(getPrompt, { id: c.req.param('id') ?? '', variables: {} })
      return download(new TextEncoder().encode(prompt.content), true, `${prompt.slug}.txt`)
    })
    paths.push('/prompts/{id}/filled')
  }
  return paths.map((path) => ({ method: 'GET', path: `${prefix}${path}`, kind: 'download', cost: 2 }))
}
