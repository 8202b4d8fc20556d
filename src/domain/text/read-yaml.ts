import { type Document, type DocumentOptions, isScalar, type ParseOptions, parseDocument, type SchemaOptions, visit } from 'yaml'

/**
 * Parses YAML without ever throwing: null when it does not parse, has warnings, or makes the parser fail.
 * The parser calls itself for each level, so that a short text nested deep enough is a RangeError.
 */
export function readYaml(text: string, options: ParseOptions & DocumentOptions & SchemaOptions = {}): Document.Parsed | null {
  try {
    const document = parseDocument(text, { logLevel: 'error', ...options })
    return document.errors.length > 0 || document.warnings.length > 0 ? null : document
  } catch {
    return null
  }
}

/** A parsed document as plain values; undefined when its aliases would make too much of it, or when a key is no scalar. */
export function toPlain(document: Document.Parsed, maxAliasCount: number): unknown {
  try {
    if (hasComplexKey(document)) return undefined
    const plain: unknown = document.toJS({ maxAliasCount })
    return plain
  } catch {
    return undefined
  }
}

/** Whether a key is a collection or an alias. Such a key is written out as text at each level: 600 nested `?` take more than a minute. */
function hasComplexKey(document: Document.Parsed): boolean {
  let found = false
  visit(document, {
    Pair(_, { key }) {
      if (key === null || isScalar(key)) return undefined
      found = true
      return visit.BREAK
    },
  })
  return found
}
