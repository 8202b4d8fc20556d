import type { AppSettings } from '../app.ts'
import type { Config } from '../config/load-config.ts'
import { readSignInSettings } from '../config/sign-in-settings.ts'

/** The settings with which the library is opened. `address` is where people reach the service. */
export function toAppSettings(config: Config, address: string): AppSettings {
  return {
    databaseUrl: config.DATABASE_URL,
    databaseConnections: config.DATABASE_CONNECTIONS,
    dataFolder: config.DATA_DIR,
    databaseListenUrl: config.DATABASE_LISTEN_URL,
    copiesBeforeUpgrade: config.BACKUP_BEFORE_UPGRADE,
    backupFolder: config.BACKUP_DIR,
    baseUrl: address,
    secretKey: config.SECRET_KEY,
    allowSignUp: config.ALLOW_SIGNUP,
    oauth:
      config.OAUTH_ENABLED && config.MCP_ENABLED
        ? { readsDocuments: config.OAUTH_CLIENT_DOCUMENTS, allowedAddresses: config.OAUTH_CLIENT_ADDRESSES }
        : null,
    quota: config.QUOTA_PER_OWNER,
    maintainersAccept: config.HIGH_FINDINGS === 'maintainers',
    passwordHash: config.PASSWORD_HASH,
    signIn: readSignInSettings(config),
    secondFactor: config.SECOND_FACTOR,
    mail: config.SMTP_URL === null || config.MAIL_FROM === null ? null : { url: config.SMTP_URL, from: config.MAIL_FROM },
    improve: {
      model: config.IMPROVE_MODEL,
      openaiBaseUrl: config.OPENAI_BASE_URL,
      openaiKey: config.OPENAI_API_KEY,
      anthropicKey: config.ANTHROPIC_API_KEY,
      googleKey: config.GOOGLE_GENERATIVE_AI_API_KEY,
      timeoutMs: config.IMPROVE_TIMEOUT_SECONDS * 1000,
      maxOutputTokens: config.IMPROVE_MAX_TOKENS,
      concurrency: config.IMPROVE_CONCURRENCY,
      budget: { requests: config.IMPROVE_DAILY_REQUESTS, characters: config.IMPROVE_DAILY_CHARACTERS },
      systemPromptFile: config.IMPROVE_SYSTEM_PROMPT_FILE,
    },
    tests: { models: config.TEST_MODELS, dailyTokens: config.TEST_DAILY_TOKENS, dailyUsd: config.TEST_DAILY_USD },
    encoder: config.ENCODER,
    embeddings:
      config.EMBEDDINGS_URL === null || config.EMBEDDINGS_MODEL === null
        ? null
        : { url: config.EMBEDDINGS_URL, model: config.EMBEDDINGS_MODEL, key: config.EMBEDDINGS_API_KEY },
  }
}
