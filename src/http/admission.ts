import { AppError } from '../errors.ts'

/** How much may be going on at once. Counts are of requests. */
export interface AdmissionLimits {
  /** Being worked on or sent: over all callers, of one with a key or a session, and of one address without. */
  readonly running: { readonly all: number; readonly known: number; readonly anonymous: number }
  /** Waiting for a place: over all callers, and of one. */
  readonly waiting: { readonly all: number; readonly each: number }
  /** Answers that are sent as they are made: over all callers, and of one. */
  readonly streams: { readonly all: number; readonly each: number }
  /** Bytes of answers that clients have not taken yet: over all callers, and of one. */
  readonly unsentBytes: { readonly all: number; readonly each: number }
}

const MIB = 1024 * 1024

const ADMISSION_LIMITS: AdmissionLimits = {
  running: { all: 2_000, known: 100, anonymous: 8 },
  waiting: { all: 2_000, each: 200 },
  streams: { all: 5_000, each: 200 },
  unsentBytes: { all: 128 * MIB, each: 16 * MIB },
}

/** Of files that clients ask for by the hundred: few at once, and a long line. A file is in memory once, however many wait for it. */
export const QUEUE_LIMITS: AdmissionLimits = {
  running: { all: 2_000, known: 4, anonymous: 4 },
  waiting: { all: 10_000, each: 2_000 },
  streams: { all: 0, each: 0 },
  unsentBytes: { all: 256 * MIB, each: 64 * MIB },
}

/** A request's place among those that are worked on. */
export interface Place {
  /** Counts an answer until the place is left. @throws AppError `rate_limited` or `unavailable` when too much is unsent */
  holdAnswer(bytes: number): void
  /** Counts the place as a stream from now on. @throws AppError `rate_limited` or `unavailable` when too many are open */
  becomeStream(): void
  leave(): void
}

interface CallerState {
  running: number
  streams: number
  unsentBytes: number
  readonly waiting: (() => void)[]
}

/** Bounds concurrent requests, answers and streams. */
export type Admission = ReturnType<typeof createAdmission>

/** Admission with nothing going on yet. */
export function createAdmission(limits: AdmissionLimits = ADMISSION_LIMITS) {
  const callers = new Map<string, CallerState>()
  const all = { running: 0, waiting: 0, streams: 0, unsentBytes: 0 }

  const stateOf = (caller: string): CallerState => {
    const entry = callers.get(caller)
    if (entry) return entry
    const state = { running: 0, streams: 0, unsentBytes: 0, waiting: [] }
    callers.set(caller, state)
    return state
  }
  const take = (caller: string, state: CallerState): Place => {
    state.running++
    all.running++
    let unsentBytes = 0
    let isStream = false
    let isLeft = false
    /** Gives the place among the running to the caller's next request. */
    const stopRunning = () => {
      state.running--
      all.running--
      const next = state.waiting.shift()
      if (!next) return
      all.waiting--
      next()
    }
    return {
      holdAnswer(bytes) {
        if (state.unsentBytes + bytes > limits.unsentBytes.each && state.unsentBytes > 0) {
          throw tooMuch('rate_limited', 'Read the responses to your earlier requests first.')
        }
        if (all.unsentBytes + bytes > limits.unsentBytes.all && all.unsentBytes > 0) {
          throw tooMuch('unavailable', 'Too many unread responses. Try again in a moment.')
        }
        unsentBytes += bytes
        state.unsentBytes += bytes
        all.unsentBytes += bytes
      },
      becomeStream() {
        if (state.streams >= limits.streams.each) {
          throw tooMuch('rate_limited', `You already have ${state.streams} open streams. Close some first.`)
        }
        if (all.streams >= limits.streams.all) throw tooMuch('unavailable', 'Too many open streams. Try again in a moment.')
        isStream = true
        state.streams++
        all.streams++
        stopRunning()
      },
      leave() {
        if (isLeft) return
        isLeft = true
        state.unsentBytes -= unsentBytes
        all.unsentBytes -= unsentBytes
        if (isStream) {
          state.streams--
          all.streams--
        } else stopRunning()
        if (state.running === 0 && state.streams === 0 && state.waiting.length === 0) callers.delete(caller)
      },
    }
  }
  return {
    /** Over all callers. */
    counts: () => ({ running: all.running, waiting: all.waiting, streams: all.streams }),
    /**
     * A slot for one request of a caller, immediately or after earlier ones. It must be released.
     * @param isKnown whether the caller has a key or a session
     * @param client a signal that is aborted when the client leaves, which ends the wait
     * @throws AppError `rate_limited` when too many of the caller's requests wait, `unavailable` when too many of all do
     */
    enter(caller: string, isKnown: boolean, client?: () => AbortSignal): Place | Promise<Place> {
      const state = stateOf(caller)
      if (state.running < (isKnown ? limits.running.known : limits.running.anonymous)) {
        if (all.running < limits.running.all) return take(caller, state)
        if (state.running === 0 && state.streams === 0) callers.delete(caller)
        throw tooMuch('unavailable', 'The service is overloaded. Try again in a moment.')
      }
      if (state.waiting.length >= limits.waiting.each) {
        throw tooMuch('rate_limited', `You already have ${state.waiting.length} waiting requests. Wait for some to finish.`)
      }
      if (all.waiting >= limits.waiting.all) throw tooMuch('unavailable', 'Too many waiting requests. Try again in a moment.')
      all.waiting++
      return new Promise((resolve, reject) => {
        const signal = client?.()
        const leave = () => {
          state.waiting.splice(state.waiting.indexOf(begin), 1)
          all.waiting--
          reject(new AppError('unavailable', 'The client disconnected.'))
        }
        const begin = () => {
          signal?.removeEventListener('abort', leave)
          resolve(take(caller, state))
        }
        state.waiting.push(begin)
        signal?.addEventListener('abort', leave, { once: true })
      })
    },
  }
}

function tooMuch(code: 'rate_limited' | 'unavailable', message: string): AppError {
  return new AppError(code, message, { retryAfterSeconds: 1 })
}

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
