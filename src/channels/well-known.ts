import { SKILL_MD } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'
import type { Answer } from '../exchange.ts'
import type { BoundRoute, Call } from '../http/call.ts'
import { readSharedFiles } from '../operations/channels/shared-items.ts'
import { answerBytes, answerFile, JSON_TYPE } from './answers.ts'
import { atVersion, type Channel } from './channel.ts'
import type { ListedSkill, Listing } from './listing.ts'

/** The version of the index that this renders (agentskills.io, discovery 0.2.0). */
const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'
const MARKDOWN_TYPE = 'text/markdown; charset=utf-8'

/**
 * Skills by a well-known address, at the root and below every scope: the index of discovery 0.2 with files and archives beside it, and the
 * older form, which names each file.
 */
export function wellKnownRoutes(channel: Channel): BoundRoute[] {
  const route = { method: 'GET', kind: 'channel', cost: 5 } as const
  const artifact = { method: 'GET', kind: 'channel', cost: 1, queues: true } as const
  return [
    {
      ...route,
      path: '{scope}/.well-known/agent-skills/index.json',
      handle: async (call) =>
        answerBytes(call, await channel.render(call, 'index', (listing) => renderIndex(channel, call, listing)), JSON_TYPE),
    },
    {
      ...artifact,
      path: '{scope}/.well-known/agent-skills/{filename}',
      handle: async (call) => await sendArtifact(channel, call, call.params['filename'] ?? ''),
    },
    {
      ...route,
      path: '{scope}/.well-known/skills/index.json',
      handle: async (call) => answerBytes(call, await channel.render(call, 'file-index', renderFileIndex), JSON_TYPE),
    },
    {
      ...artifact,
      path: '{scope}/.well-known/skills/{filename}',
      handle: async (call) => {
        const path = call.params['filename'] ?? ''
        const slash = path.indexOf('/')
        return await sendFile(channel, call, path.slice(0, Math.max(0, slash)), path.slice(slash + 1))
      },
    },
  ]
}

/** Says in an index that it is cut. Clients ignore fields they do not know. */
const toNote = (note: string | null) => (note === null ? {} : { note })

async function renderIndex(channel: Channel, call: Call, { skills, cutNote }: Listing): Promise<unknown> {
  const entries: unknown[] = []
  for (const skill of skills) {
    const { name, description, files, check } = skill
    const [only] = files
    // A skill that is one file is given as that file; its digest is known already.
    const isFile = files.length === 1 && only !== undefined
    entries.push({
      name,
      type: isFile ? 'skill-md' : 'archive',
      description,
      url: isFile ? `${name}/${SKILL_MD}` : `${name}.zip`,
      digest: `sha256:${isFile ? only.sha256 : await channel.digest(call, skill)}`,
      ...(check && { check }),
    })
  }
  return { $schema: SCHEMA, ...toNote(cutNote), skills: entries }
}

/** Clients of the older form refuse a whole index for one name they do not like, and send names as they are. */
function isPlainName(filename: string): boolean {
  return !filename.includes('..') && !/[%?#\\]/.test(filename)
}

async function renderFileIndex({ skills, cutNote }: Listing): Promise<unknown> {
  return {
    ...toNote(cutNote),
    skills: skills
      .filter(({ files }) => files.every(({ filename }) => isPlainName(filename)))
      .map(({ name, description, files, archiveKey }) => ({
        name,
        description,
        // Some clients keep files until the version is another.
        version: Buffer.from(archiveKey, 'base64').toString('hex').slice(0, 16),
        files: files.map(({ filename }) => filename),
      })),
  }
}

async function sendArtifact(channel: Channel, call: Call, path: string): Promise<Answer> {
  const name = /^([^/]+)\.zip$/.exec(path)?.[1]
  if (name !== undefined) return await channel.sendArchive(call, await channel.find(call, name))
  const folder = path.endsWith(`/${SKILL_MD}`) ? path.slice(0, -SKILL_MD.length - 1) : null
  if (folder === null) throw missing()
  return await sendFile(channel, call, folder, SKILL_MD)
}

async function sendFile(channel: Channel, call: Call, name: string, filename: string): Promise<Answer> {
  const skill: ListedSkill = await channel.find(call, name)
  const {
    files: [file],
  } = await channel.call(call)(readSharedFiles, { id: skill.id, filename, ...atVersion(call, skill.version) })
  if (!file) throw missing()
  channel.countRead(call, skill, filename)
  return answerFile(call, file.bytes, typeOf(filename, file.bytes))
}

/** Markdown as such, other text as plain text, the rest as bytes. */
function typeOf(filename: string, bytes: Uint8Array): string {
  if (/\.md$/i.test(filename)) return MARKDOWN_TYPE
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return 'text/plain; charset=utf-8'
  } catch {
    return 'application/octet-stream'
  }
}

function missing(): AppError {
  return new AppError('not_found', 'File not found in this index.')
}
