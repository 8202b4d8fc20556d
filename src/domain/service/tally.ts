/** How many things each name holds at this moment; a name that holds none is forgotten. */
export function createTally() {
  const counts = new Map<string, number>()
  return {
    of: (name: string) => counts.get(name) ?? 0,
    /** Adds one to the count of a name; the returned function subtracts it once. */
    add(name: string) {
      counts.set(name, (counts.get(name) ?? 0) + 1)
      let isOff = false
      return () => {
        if (isOff) return
        isOff = true
        const left = (counts.get(name) ?? 1) - 1
        if (left === 0) counts.delete(name)
        else counts.set(name, left)
      }
    },
  }
}
