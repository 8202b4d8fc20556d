/** A part of an address without its percent-encoding; one that has no right encoding stays as it is. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
