import { type Document, type DocumentOptions, isScalar, type ParseOptions, parseDocument, type SchemaOptions, visit } from 'yaml'

type Options = ParseOptions & DocumentOptions & SchemaOptions

/**
 * Parses YAML; faults are in the document. Null when the parser fails: it calls itself for each level, so that a short text nested deep
 * enough is a RangeError.
 */
export function parseYaml(text: string, options: Options = {}): Document.Parsed | null {
  try {
    return parseDocument(text, { logLevel: 'error', ...options })
  } catch {
    return null
  }
}

/** Parses YAML: null when it does not parse, has warnings, or makes the parser fail. */
export function readYaml(text: string, options: Options = {}): Document.Parsed | null {
  const document = parseYaml(text, options)
  return document && document.errors.length + document.warnings.length === 0 ? document : null
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
