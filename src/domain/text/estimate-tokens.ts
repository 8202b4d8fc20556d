/**
 * Roughly how many tokens a model reads in a text: a quarter of its bytes in UTF-8, the usual rule of thumb. Scripts whose characters take
 * more bytes also take more tokens.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, 'utf8') / 4)
}
