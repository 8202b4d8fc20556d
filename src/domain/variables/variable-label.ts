/**
 * A variable's name as people read it: words apart, the first one with a capital. Abbreviations stay in capitals where the name mixes cases.
 * @example labelVariable('clientName') // 'Client name'
 */
export function labelVariable(name: string): string {
  const isShouted = name === name.toUpperCase()
  const words = name
    .replaceAll(/(?<=[\p{Ll}\p{Nd}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
    .split(/[\s_-]+/u)
    .filter((word) => word !== '')
    .map((word) => (isShouted || !/^\p{Lu}+\p{Nd}*$/u.test(word) ? word.toLowerCase() : word))
  const label = words.join(' ')
  const first = String.fromCodePoint(label.codePointAt(0) ?? 0x20)
  return label === '' ? name : first.toUpperCase() + label.slice(first.length)
}
