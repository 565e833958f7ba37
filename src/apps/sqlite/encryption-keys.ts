// Where the keys come from that encrypt the credentials of a SQLite file.
import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { ToolwrightError } from '../../core/error/error.ts'
import type { EncryptedCredentialOptions } from '../../services/credential/encrypted.ts'
import { decodeKeys } from '../../services/credential/key-ring.ts'
import { createKeyFile, readKeyFile } from './key-file.ts'

/** The environment variable with encryption keys, separated by commas. */
export const KEYS_VARIABLE = 'TOOLWRIGHT_ENCRYPTION_KEYS'

/** Where encryption keys come from: the option, the environment variable, a key file, or random keys of this process. */
type KeySource =
  | { readonly type: 'option' }
  | { readonly type: 'environment' }
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'random' }

/**
 * Where the encryption keys of a database come from. A key file is next to the target of a symbolic link, like the
 * write-ahead log, so that every path to the database leads to the same keys.
 */
export function keySourceOf(file: string, encryptionKeys?: readonly string[] | undefined): KeySource {
  if (encryptionKeys !== undefined) return { type: 'option' }
  if (file === ':memory:') return { type: 'random' }
  if (process.env[KEYS_VARIABLE] !== undefined) return { type: 'environment' }
  return { type: 'file', path: `${realPath(file)}.key` }
}

function realPath(file: string): string {
  return existsSync(file) && lstatSync(file).isSymbolicLink() ? realpathSync(file) : resolve(file)
}

/** Throws INVALID_CONFIG if the keys of the option, or else of the environment variable, are not valid. */
export function checkConfiguredKeys(path: string | URL, encryptionKeys: readonly string[] | undefined): void {
  const { type } = keySourceOf(String(path), encryptionKeys)
  if (type === 'option') decodeKeys(encryptionKeys, 'encryptionKeys')
  if (type === 'environment') decodeKeys(keysOfEnvironment(), KEYS_VARIABLE)
}

/** The keys of a database, as options of `EncryptedCredentialService`. */
export function encryptionOf(
  file: string,
  encryptionKeys: readonly string[] | undefined,
  hasCredentials: () => Promise<boolean>,
): EncryptedCredentialOptions {
  const source = keySourceOf(file, encryptionKeys)
  switch (source.type) {
    case 'option':
      return { encryptionKeys: encryptionKeys ?? [] }
    case 'environment':
      return { encryptionKeys: keysOfEnvironment(), keySource: KEYS_VARIABLE }
    case 'random':
      return { encryptionKeys: [randomBytes(32).toString('base64')] }
    case 'file':
      return {
        encryptionKeys: () => keysOfFile(source.path, hasCredentials),
        keySource: `the key file "${source.path}"`,
      }
  }
}

/** The keys of the environment variable. */
export function keysOfEnvironment(): string[] {
  return (process.env[KEYS_VARIABLE] ?? '').split(',').map((key) => key.trim())
}

/** Reads the key file, and creates it before the first credential is saved. */
async function keysOfFile(path: string, hasCredentials: () => Promise<boolean>): Promise<readonly string[]> {
  // asked first: a process creates the file before it saves a credential
  const isNeeded = await hasCredentials()
  const keys = readKeyFile(path)
  if (keys) return keys
  if (isNeeded) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `The key file "${path}" is missing, but the database holds credentials. Restore the file from a backup, or set encryptionKeys of sqlite() or ${KEYS_VARIABLE} to the keys that encrypted them.`,
    )
  }
  createKeyFile(path)
  return readKeyFile(path) ?? []
}
