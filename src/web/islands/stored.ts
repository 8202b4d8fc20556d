type Storage = 'localStorage' | 'sessionStorage'

/** The value this browser keeps under a key; null for none, and where storage is blocked. */
export function readStored(key: string, storage: Storage = 'localStorage'): string | null {
  try {
    return window[storage].getItem(key)
  } catch {
    return null
  }
}

/** Keeps a value, or removes it for null. False where storage is blocked or full: pages work without. */
export function writeStored(key: string, value: string | null, storage: Storage = 'localStorage'): boolean {
  try {
    if (value === null) window[storage].removeItem(key)
    else window[storage].setItem(key, value)
    return true
  } catch {
    return false
  }
}

/** The keys of what this browser keeps, in order; none where storage is blocked. */
export function listStored(storage: Storage = 'localStorage'): string[] {
  try {
    return Object.keys(window[storage]).sort()
  } catch {
    return []
  }
}
