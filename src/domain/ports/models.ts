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
