import type { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import type { Operation } from '../../operations/define-operation.ts'
import type { HttpEnv, MakeContext } from '../rest.ts'

const fileShape = z.object({ content: z.string(), encoding: z.literal('base64').optional() })
const promptShape = z.object({ slug: z.string(), content: z.string() })

/** Bytes for saving, never for showing: whatever they are, a browser neither renders nor sniffs them (contract, "REST"). */
function download(bytes: Uint8Array<ArrayBuffer>, isText: boolean, filename: string): Response {
  return new Response(bytes, {
    headers: {
      'Content-Type': isText ? 'text/plain; charset=utf-8' : 'application/octet-stream',
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    },
  })
}

/** Routes that answer bytes instead of JSON: a skill's file and a prompt's text. */
export function addRawRoutes(app: Hono<HttpEnv>, operations: readonly Operation[], makeContext: MakeContext): void {
  const find = (name: string): Operation => {
    const operation = operations.find((candidate) => candidate.name === name)
    if (!operation) throw new AppError('internal', `The operation ${name} is missing`)
    return operation
  }
  const getSkillFile = find('get_skill_file')
  const showPrompt = find('show_prompt')
  app.get('/api/skills/:skillId/files/:filename{.+}', async (c) => {
    const { skillId, filename } = c.req.param()
    const file = fileShape.parse(await getSkillFile.call(makeContext(c.get('actor')), { skillId, filename }))
    const bytes = new Uint8Array(Buffer.from(file.content, file.encoding ?? 'utf8'))
    return download(bytes, file.encoding === undefined, filename.split('/').at(-1) ?? filename)
  })
  app.get('/api/prompts/:id/raw', async (c) => {
    const prompt = promptShape.parse(await showPrompt.call(makeContext(c.get('actor')), { id: c.req.param('id') }))
    return download(new TextEncoder().encode(prompt.content), true, `${prompt.slug}.txt`)
  })
}
