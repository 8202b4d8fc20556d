import { type Document, type DocumentOptions, type ParseOptions, parseDocument, type SchemaOptions } from 'yaml'

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

/** A parsed document as plain values; undefined when its aliases would make too much of it. */
export function toPlain(document: Document.Parsed, maxAliasCount: number): unknown {
  try {
    const plain: unknown = document.toJS({ maxAliasCount })
    return plain
  } catch {
    return undefined
  }
}
