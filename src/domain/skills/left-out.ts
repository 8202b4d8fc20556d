import { isGitName } from './filename.ts'

/** Folders of tools, and files that hold secrets by their name. */
const SKIPPED_NAME = /^(node_modules|\.env.*)$/i
/** Files that macOS adds. */
const SYSTEM_NAME = /^(__MACOSX|\.DS_Store|Thumbs\.db)$/i
const SECRET_NAME = /^(id_(rsa|dsa|ecdsa|ed25519)(?!\.pub)|.*\.(pem|key|p12|pfx|keystore))$/i
const PRIVATE_KEY_LINE = /^-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----/m

/** Whether a folder or file of this name is left out of what is imported (contract, "Outbound and inbound care"). */
export function isLeftOutName(name: string): boolean {
  return SKIPPED_NAME.test(name) || isGitName(name)
}

/** Whether an operating system adds files of this name to folders and archives. */
export function isSystemName(name: string): boolean {
  return SYSTEM_NAME.test(name)
}

/** Whether a file of this name is likely to hold a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** Whether a file holds a private key: a line begins one. Markdown may quote such a line, and counts only when it begins with it. */
export function holdsPrivateKey(name: string, bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').trimStart()
  return PRIVATE_KEY_LINE.test(name.toLowerCase().endsWith('.md') ? text.slice(0, 100).replace(/\n[\s\S]*/, '') : text)
}
