import type { Hono } from 'hono'
import { fromFileContent } from '../../library/skill.ts'
import { writeSkillArchive } from '../../library/skill-archive.ts'
import { callLocally } from '../../operations/core/invoke.ts'
import { getSkill } from '../../operations/skills/get-skill.ts'
import type { HttpEnv, MakeContext } from '../call.ts'
import type { Route } from '../route.ts'
import { downloadHeaders, type SendPieces } from './download.ts'

/** A skill as a zip, packed as it is sent: each piece is a few milliseconds' work, and other requests come in between. */
export function addSkillZipRoute(app: Hono<HttpEnv>, makeContext: MakeContext, prefix: string, sendPieces: SendPieces): Route {
  app.get(`${prefix}/skills/:skillId/zip`, async (c) => {
    const call = callLocally(() => makeContext(c.get('call').actor))
    const skill = await call(getSkill, { id: c.req.param('skillId') })
    const pieces = writeSkillArchive(
      skill.files.map((file) => fromFileContent(file, '')),
      skill.slug,
    )
    return sendPieces(c.get('call').caller, pieces, downloadHeaders('application/zip', `${skill.slug}.zip`))
  })
  return { method: 'GET', path: `${prefix}/skills/{skillId}/zip`, kind: 'download', cost: 20 }
}
