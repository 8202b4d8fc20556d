/** Dearest request that counts as light, in points. */
const LIGHT_COST = 3
/** Work in one turn of the event loop after which the next request waits for another turn, in milliseconds. */
const LIGHT_MS = 40
const HEAVY_MS = 10
/** The same while connections come in. */
const CONNECTING_MS = 2
/** Work of waiting requests in one turn, in milliseconds. */
const WAITING_MS = 10
/** Turns in a row that waiting requests may stand back for connections. */
const MAX_IDLE_TURNS = 32

/** Shares the main thread between callers. */
export type Turns = ReturnType<typeof createTurns>

/**
 * Limits the work of one turn of the event loop: libuv accepts one connection a turn, so long turns keep newcomers waiting. Requests that
 * do not fit wait, by caller in round robin. Others run immediately: a waiting request is already parsed, and costs the garbage collector
 * more. Each request runs until it awaits something.
 */
export function createTurns(now: () => number = () => performance.now()) {
  /** When the work of this turn began; null: there was none yet. */
  let startedMs: number | null = null
  let isArmed = false
  /** Whether a connection was accepted in this turn, and in the one before. */
  let isConnecting = false
  let wasConnecting = false
  let idleTurns = 0
  /** Callers in the order of their turns, each with its own requests in order. */
  const waiting = new Map<string, (() => void)[]>()

  const arm = () => {
    if (isArmed) return
    isArmed = true
    setImmediate(nextTurn)
  }
  const nextTurn = () => {
    isArmed = false
    startedMs = null
    wasConnecting = isConnecting
    isConnecting = false
    if (wasConnecting) arm()
    if (waiting.size === 0) return
    arm()
    const standsBack = wasConnecting && idleTurns < MAX_IDLE_TURNS
    idleTurns = standsBack ? idleTurns + 1 : 0
    if (standsBack) return
    startedMs = now()
    runNext()
  }
  const runNext = () => {
    const next = waiting.entries().next().value
    if (!next) return
    const [caller, requests] = next
    const run = requests.shift()
    waiting.delete(caller)
    if (requests.length > 0) waiting.set(caller, requests)
    run?.()
    // A tick that is asked for from a microtask runs when all microtasks are done: the request has gone as far as it can.
    queueMicrotask(() =>
      process.nextTick(() => {
        if (startedMs !== null && now() - startedMs < WAITING_MS) runNext()
      }),
    )
  }
  return {
    /**
     * Null when a request may be worked on at once; else resolves when it is the caller's turn.
     * @param cost in points of the caller's minute
     */
    take(caller: string, cost: number): Promise<void> | null {
      if (startedMs === null) {
        startedMs = now()
        arm()
        if (cost <= LIGHT_COST || waiting.size === 0) return null
      } else {
        const isLight = cost <= LIGHT_COST
        const withinMs = isConnecting || wasConnecting ? CONNECTING_MS : isLight ? LIGHT_MS : HEAVY_MS
        if ((isLight || waiting.size === 0) && now() - startedMs < withinMs) return null
      }
      arm()
      return new Promise((resolve) => {
        const requests = waiting.get(caller)
        if (requests) requests.push(resolve)
        else waiting.set(caller, [resolve])
      })
    },
    /** Requests that wait. */
    countWaiting: () => [...waiting.values()].reduce((sum, requests) => sum + requests.length, 0),
    /** Tells that a connection was accepted in this turn. */
    noteConnection() {
      isConnecting = true
      arm()
    },
  }
}
