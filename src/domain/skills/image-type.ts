/** Media types of the raster images that browsers draw, by the ending of a filename. SVG is not among them: it can hold scripts. */
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
}

/** The media type of a raster image by its filename; null for any other file. */
export function imageTypeOf(filename: string): string | null {
  return IMAGE_TYPES[filename.split('.').at(-1)?.toLowerCase() ?? ''] ?? null
}
