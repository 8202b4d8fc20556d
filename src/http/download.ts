/** Headers of bytes for saving, never for showing: whatever they are, a browser neither renders nor sniffs them (contract, "REST"). */
export function downloadHeaders(type: string, filename: string): Record<string, string> {
  return {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  }
}
