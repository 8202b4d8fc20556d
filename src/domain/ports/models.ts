/** One turn of a conversation with a model. */
export interface ModelMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** The request to a model. */
export interface ModelRequest {
  readonly system: string
  /** User and assistant take turns, the user first and last. */
  readonly messages: readonly ModelMessage[]
  readonly maxOutputTokens: number
  /** Time left for the answer: no retry waits beyond it. `signal` ends it. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly temperature?: number
  /** Called once at the end of an answer, where the provider tells. */
  readonly onUsage?: (tokens: { readonly input: number; readonly output: number }) => void
}

/** A model that writes text. */
export interface LanguageModel {
  /** As results show it, such as `openai/gpt-5`. */
  readonly name: string
  /**
   * The answer in pieces. It ends early only by throwing.
   * @throws AppError `upstream_failed`; what `signal` was aborted with
   */
  streamText(request: ModelRequest): AsyncIterable<string>
}

/** The models that tests may ask, and what they may take. */
export interface TestModels {
  /** By name; the first also judges answers. Prices are US dollars per million tokens. */
  readonly models: ReadonlyMap<
    string,
    { readonly model: LanguageModel; readonly price: { readonly input: number; readonly output: number } | null }
  >
  /** Limits of the tests of an owner's items on a day (UTC); null for none. */
  readonly dailyTokens: number | null
  readonly dailyUsd: number | null
  /** Runs `work` when one of the places for calls is free, which are half of those of {@link Improver}; callers take turns. */
  inPlace<T>(caller: string, work: () => Promise<T>): Promise<T>
  /** Whether a value is as a JSON Schema says, or a text matches a pattern; `unusable` for one that is none, `slow` for one that takes too long. */
  checkAnswer(
    question:
      | { readonly value: unknown; readonly schema: object }
      | { readonly text: string; readonly pattern: string; readonly flags: string },
  ): Promise<boolean | 'unusable' | 'slow'>
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal
  /** Runs `work` with a signal that `cancel` aborts too, where this process does it. */
  untilCancelled(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void>
  cancel(key: string): void
  /**
   * Begins work that goes on after the call it is made in. `signal` is {@link stopping}.
   * @returns what `begin` made, and when all is done
   * @throws AppError `unavailable` when the caller has too much of it at once; what `begin` throws
   */
  inBackground<T>(
    caller: string,
    begin: () => Promise<T>,
    work: (made: T, signal: AbortSignal) => Promise<void>,
  ): Promise<{ readonly made: T; readonly done: Promise<void> }>
}

/** Daily limits (UTC) of a caller for improving prompts; null for none. `characters` counts the prompts sent in. */
export interface ImproveBudget {
  readonly requests: number | null
  readonly characters: number | null
}

/** How prompts are improved here. */
export interface Improver {
  /** null: nothing is configured, and the built-in improver does it. */
  readonly model: LanguageModel | null
  /** The system prompt. */
  readonly systemPrompt: string
  readonly maxOutputTokens: number
  /** Longest time one call may take in all, asking again included. */
  readonly timeoutMs: number
  readonly budget: ImproveBudget
  /** Letters that nobody outside can foresee. */
  drawLetters(): string
  /**
   * Acquires a slot for a call to the model; returns a function that releases it.
   * @throws AppError `unavailable` when all are taken, or one caller holds half of them
   */
  enter(caller: string): () => void
}

/**
 * Roughly how many tokens a model reads in a text: a quarter of its bytes in UTF-8, the usual rule of thumb. Scripts whose characters take
 * more bytes also take more tokens.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, 'utf8') / 4)
}
