import type { Hono } from 'hono'
import { z } from 'zod'
import { fromFileContent } from '../../library/skill.ts'
import { writeSkillArchive } from '../../library/skill-archive.ts'
import type { Operation } from '../../operations/core/define-operation.ts'
import { invokeLocally } from '../../operations/core/invoke.ts'
import type { HttpEnv, MakeContext } from '../call.ts'
import type { Route } from '../route.ts'
import { downloadHeaders, type SendPieces } from './download.ts'

const skillShape = z.object({
  slug: z.string(),
  files: z.array(z.object({ filename: z.string(), content: z.string(), encoding: z.literal('base64').optional() })),
})

/** A skill as a zip, packed as it is sent: each piece is a few milliseconds' work, and other requests come in between. */
export function addSkillZipRoute(
  app: Hono<HttpEnv>,
  operations: readonly Operation[],
  makeContext: MakeContext,
  prefix: string,
  sendPieces: SendPieces,
): Route {
  app.get(`${prefix}/skills/:skillId/zip`, async (c) => {
    const invoke = invokeLocally(operations, () => makeContext(c.get('call').actor))
    const skill = skillShape.parse(await invoke('get_skill', { id: c.req.param('skillId') }))
    const pieces = writeSkillArchive(
      skill.files.map((file) => fromFileContent(file, '')),
      skill.slug,
    )
    return sendPieces(c.get('call').caller, pieces, downloadHeaders('application/zip', `${skill.slug}.zip`))
  })
  return { method: 'GET', path: `${prefix}/skills/{skillId}/zip`, kind: 'download', cost: 20 }
}
