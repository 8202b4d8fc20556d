import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { DEFAULT_VISIBILITIES } from '../domain/items/visibility.ts'
import { displayNameField } from '../domain/people/account.ts'
import { teamDescriptionField } from '../domain/people/teams.ts'
import type { ExportedTeam } from '../domain/service/transfer.ts'
import { AppError } from '../errors.ts'
import { readRegularFile } from './regular-file.ts'

/** Largest file of teams that is read, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024

const teamsFile = z.array(
  z.object({
    name: z.string(),
    displayName: displayNameField.nullable(),
    description: teamDescriptionField.nullable(),
    newItems: z.enum(DEFAULT_VISIBILITIES),
  }),
)

/** Teams by name in lower case. */
export type ExportedTeams = ReadonlyMap<string, ExportedTeam>

/** Writes which owners of an export are teams. */
export async function writeTeams(path: string, teams: readonly ExportedTeam[], mode: number): Promise<void> {
  await writeFile(path, `${JSON.stringify(teams, null, 2)}\n`, { flush: true, mode })
}

/**
 * Reads which owners of an export are teams.
 * @returns null for an export of an earlier version, which does not say
 * @throws AppError `invalid_input` when the file is no export
 */
export async function readTeams(path: string): Promise<ExportedTeams | null> {
  const bytes = await readRegularFile(path, MAX_BYTES)
  if (bytes === null) return null
  try {
    const teams = teamsFile.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
    return new Map(teams.map((team) => [team.name.toLowerCase(), team]))
  } catch (error) {
    throw new AppError('invalid_input', `${path} is not a list of teams written by export.`, { cause: error })
  }
}
