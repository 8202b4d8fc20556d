/** Filling in a prompt and taking it elsewhere. The page's script puts `{n}`, `{count}`, `{names}` and `{name}` in. */
export const FILLING_WORDS = {
  copy: 'Copy',
  copied: 'Copied',
  copyWithOne: 'Copy with 1 blank',
  copyWithMany: 'Copy with {n} blanks',
  copiedText: 'Copied.',
  copiedWithBlanks: 'Copied. Still empty: {names}.',
  notCopied: 'The browser refused to copy. Select the text and copy it yourself.',
  stillEmpty: 'Still empty: {names}. Fill in the rest, or press again to continue without.',
  namesAndMore: '{names} and {n} more',
  pasteThere: 'Copied. Paste it into {name}.',
  filled: '{n} of {count} filled',
  clear: 'Clear',
  cleared: 'Values cleared.',
  openIn: 'Open in',
  copiedFirst: 'copied first',
  copyYourself: 'copy the text first',
}
