import { statSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { checkFiles } from '../check/check-files.ts'
import { RULE_SET } from '../check/rules/index.ts'
import { toSarif } from '../check/sarif.ts'
import { type Finding, SEVERITIES, type Severity } from '../domain/check/finding.ts'
import { AppError } from '../errors.ts'
import { findSkillFolders, readSkillFolder } from '../transfer/skill-folder.ts'
import { plural, print, printJson } from './print.ts'
import { formatTable } from './print-list.ts'

/** Whether an argument of `check` is a folder; a scope begins with a slash, and no folder has its name. */
export function isFolder(target: string | undefined): target is string {
  return target !== undefined && statSync(target, { throwIfNoEntry: false })?.isDirectory() === true
}

/** How the findings in a folder are printed, and the least severity that fails the check. */
interface FolderCheck {
  readonly level: Severity
  readonly json?: boolean | undefined
  readonly sarif?: boolean | undefined
}

/**
 * Checks the skills below a folder, as an import would take them: links, secrets and folders of tools are left out. Offline, without a library.
 * @returns whether there is a finding of the level or above
 * @throws AppError `invalid_input` for a folder without a skill
 */
export async function checkFolder(folder: string, { level, json, sarif }: FolderCheck): Promise<boolean> {
  const remarks: string[] = []
  const skills = await findSkillFolders(folder, (path, reason) => remarks.push(`${relative(folder, path)} ${reason}`))
  if (skills.length === 0) throw new AppError('invalid_input', `${folder} has no skill in it: no folder with a SKILL.md.`)
  const findings: Finding[] = []
  for (const path of skills) {
    const draft = await readSkillFolder(path)
    const place = relative(folder, path)
    remarks.push(...draft.remarks.map((remark) => `${place || basename(path)}: ${remark}`))
    for (const { mark: _, ...finding } of checkFiles(draft.files))
      findings.push({ ...finding, file: place === '' ? finding.file : `${place}/${finding.file}` })
  }
  if (sarif) printJson(toSarif(findings))
  else if (json) printJson({ ruleSet: RULE_SET, skills: skills.length, findings, remarks })
  else {
    const counts = SEVERITIES.map((severity) => `${findings.filter((one) => one.severity === severity).length} ${severity}`).join(', ')
    print(`${plural(skills.length, 'skill')}; ${counts}\n`)
    print(
      formatTable(
        findings.map(({ severity, rule, file, line, column, evidence }) => [severity, rule, `${file}:${line}:${column}`, evidence]),
        null,
      ),
    )
    for (const rule of new Set(findings.map((finding) => finding.rule))) {
      const found = findings.find((finding) => finding.rule === rule)
      if (found) print(`${rule}: ${found.why} ${found.fix}\n`)
    }
    for (const remark of remarks) print(`Not read: ${remark}\n`)
  }
  const failing = SEVERITIES.slice(0, SEVERITIES.indexOf(level) + 1)
  return findings.some(({ severity }) => failing.includes(severity))
}
