import type { Finding, Severity } from '../domain/check/findings.ts'
import { RULE_SET, ruleOf } from './rules/index.ts'

const LEVEL: Record<Severity, 'error' | 'warning' | 'note'> = { high: 'error', medium: 'warning', low: 'note' }

/** A URI of a path inside a skill (RFC 3986): each segment escaped. */
function toUri(file: string): string {
  return file.split('/').map(encodeURIComponent).join('/')
}

/**
 * Findings as a log of static analysis results, for code hosts and editors.
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
export function toSarif(findings: readonly Finding[]) {
  const ids = [...new Set(findings.map(({ rule }) => rule))].sort()
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0' as const,
    runs: [
      {
        tool: {
          driver: {
            name: 'Commonplace',
            version: String(RULE_SET),
            rules: ids.map((id) => {
              const rule = ruleOf(id)
              return {
                id,
                shortDescription: { text: rule?.title ?? id },
                fullDescription: { text: rule?.why ?? id },
                help: { text: rule?.fix ?? id },
                properties: { tags: [rule?.owasp ?? 'AST01'], ruleSet: RULE_SET },
              }
            }),
          },
        },
        columnKind: 'utf16CodeUnits' as const,
        results: findings.map(({ rule, severity, file, line, column, evidence, why, waived }) => ({
          ruleId: rule,
          ruleIndex: ids.indexOf(rule),
          level: LEVEL[severity],
          message: { text: `${why} Found: ${evidence}` },
          locations: [{ physicalLocation: { artifactLocation: { uri: toUri(file) }, region: { startLine: line, startColumn: column } } }],
          ...(waived && { suppressions: [{ kind: 'external' as const, justification: waived.reason }] }),
        })),
      },
    ],
  }
}
