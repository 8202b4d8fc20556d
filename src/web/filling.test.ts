import { describe, expect, it } from 'vitest'
import { linkText, SERVICES } from './filling.ts'

const TEXT = 'R&D at 50%25 + "#1"\n名前 😀'

/** The text that the receiver of an address sees. */
function readText(name: string, address: string): string | null {
  // Applications take a query apart after it was decoded as a whole.
  const url = new URL(name === 'Cursor' || name === 'VS Code' ? decodeURIComponent(address) : address)
  return [...url.searchParams.values()][0] ?? null
}

describe('a text opened elsewhere', () => {
  it.each(SERVICES.filter(({ prefix }) => prefix !== null))('arrives whole in $name', (service) => {
    const address = linkText(service, TEXT)
    expect(readText(service.name, address ?? '')).toBe(TEXT)
    expect(linkText(service, `lone \ud800`)).toContain('lone')
  })

  it.each(SERVICES)('is copied when the address to $name would be too long, as a browser counts it', (service) => {
    expect(linkText(service, 'x'.repeat(8_001))).toBeNull()
    expect(linkText(service, '名'.repeat(1_000))).toBeNull()
    expect(linkText(service, 'x'.repeat(7_800)) === null).toBe(service.prefix === null)
  })
})
