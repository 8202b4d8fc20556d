import type { FILLING_WORDS } from '../filling.ts'

/** Filling in a prompt and taking it elsewhere, in German. */
export const FILLING_WORDS_DE: typeof FILLING_WORDS = {
  copy: 'Kopieren',
  copied: 'Kopiert',
  copyWithOne: 'Mit 1 Lücke kopieren',
  copyWithMany: 'Mit {n} Lücken kopieren',
  copiedText: 'Kopiert.',
  copiedWithBlanks: 'Kopiert. Noch leer: {names}.',
  notCopied: 'Der Browser hat das Kopieren verweigert. Markiere den Text und kopiere ihn selbst.',
  stillEmpty: 'Noch leer: {names}. Fülle den Rest aus, oder klick noch einmal, um so weiterzumachen.',
  namesAndMore: '{names} und {n} weitere',
  pasteThere: 'Kopiert. Füge es in {name} ein.',
  filled: '{n} von {count} ausgefüllt',
  required: '{n} erforderlich',
  longValue: '{n} Zeichen',
  clear: 'Leeren',
  cleared: 'Werte geleert.',
  openIn: 'Öffnen in',
  copiedFirst: 'wird vorher kopiert',
  copyYourself: 'Text vorher kopieren',
}
