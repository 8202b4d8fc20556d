import { Option } from 'commander'
import { z } from 'zod'
import { fromFileContent } from '../library/skill.ts'
import { fileRecord } from '../operations/core/records.ts'
import { writeSkillFolder } from '../transfer/skill-folder.ts'
import type { CommandExtra } from './command-extras.ts'
import { readOutput } from './print-list.ts'

const flagsShape = z.object({ out: z.string().optional() })
const skillShape = z.object({ files: z.array(fileRecord) })

/** `get-skill`: `--out` writes the files into a folder. */
export const saveSkillFiles: CommandExtra = {
  options: [new Option('--out <folder>', 'write the files to this folder (new or empty)')],
  async present(output, _input, flags) {
    const { out } = flagsShape.parse(flags)
    if (out === undefined) return null
    const files = readOutput(skillShape, output).files.map((file) => fromFileContent(file, ''))
    await writeSkillFolder(out, files)
    return `Wrote ${files.length} ${files.length === 1 ? 'file' : 'files'} to ${out}.\n`
  },
}
