/** The text of a key that may not be among them, such as one from an address. */
export function textOf(texts: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(texts, key) ? texts[key] : undefined
}
