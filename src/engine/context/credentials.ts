// Credentials as tools and callbacks use them: those of the user of the run.

import { kindOf } from '../../core/base/kind-of.ts'
import { MAX_NAME_LENGTH } from '../../core/base/limits.ts'
import { loadLater } from '../../core/base/load-later.ts'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import { anything, callback, checkOptions, type OptionRules, record, text } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { isReservedKey, RESERVED_PREFIXES } from '../../services/auth/auth-records.ts'
import type { AuthServices } from '../../services/auth/auth-services.ts'
import { checkAuthConfig } from '../../services/auth/config/check-auth-config.ts'
import type { CredentialOptions, CredentialOutcome } from '../../services/auth/resolve-credential.ts'
import { findDeletedOf } from './find-deleted-of.ts'
import type { InvocationHost } from './invocation-host.ts'

const resolver = loadLater(() => import('../../services/auth/resolve-credential.ts'))

const OPTIONS: OptionRules<CredentialOptions> = { redirectUri: text, refreshBuffer: anything, fetch: callback }

/** Everything that resolving a credential of the run's user needs. Throws INVALID_CONFIG if there is no store. */
export function authServicesOf(host: InvocationHost): AuthServices {
  const { appName, userId, credentialService, auth } = host
  const isUserDeleted = async (): Promise<boolean> => (await findDeletedOf(host)) === 'user'
  if (credentialService) return { appName, userId, credentialService, isUserDeleted, ...auth }
  throw new ToolwrightError(
    'INVALID_CONFIG',
    'Credentials cannot be used: there is no credentialService. Pass one, such as new InMemoryCredentialService().',
  )
}

/** Loads a credential as it was saved, without a refresh. */
export async function loadCredential(host: InvocationHost, key: string): Promise<AuthCredential | undefined> {
  const { appName, userId, credentialService } = authServicesOf(host)
  return (await credentialService.load({ appName, userId, key: checkKey(key) }))?.credential
}

/** Saves a credential of the user. */
export async function saveCredential(host: InvocationHost, key: string, credential: AuthCredential): Promise<void> {
  const { appName, userId, credentialService, isUserDeleted } = authServicesOf(host)
  checkOptions('saveCredential()', { credential }, { credential: record }, 'INVALID_REQUEST')
  const expectedGeneration = await credentialService.save({ appName, userId, key: checkKey(key), credential })
  if (await isUserDeleted?.()) await credentialService.delete({ appName, userId, key, expectedGeneration })
}

/** Resolves a credential: returns the stored token, refreshed when needed, or makes one without the user. */
export async function getCredential(
  host: InvocationHost,
  key: string,
  authConfig: AuthConfig,
  options: CredentialOptions = {},
): Promise<CredentialOutcome> {
  checkOptions('getCredential()', options, OPTIONS, 'INVALID_REQUEST')
  const config = checkAuthConfig(authConfig, `getCredential("${checkKey(key)}")`)
  const services = authServicesOf(host)
  const { resolveCredential } = await resolver()
  return await resolveCredential(services, key, config, options)
}

/** Returns the key. Throws INVALID_REQUEST if it is empty, too long, or reserved for records of the framework. */
export function checkKey(key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= MAX_NAME_LENGTH && !isReservedKey(key)) return key
  const given =
    typeof key === 'string' ? (isReservedKey(key) ? 'a reserved prefix' : `${key.length} characters`) : kindOf(key)
  const expected = `a string of 1 to ${MAX_NAME_LENGTH} characters that does not start with ${RESERVED_PREFIXES}`
  throw new ToolwrightError('INVALID_REQUEST', `The key of a credential must be ${expected}, got ${given}.`)
}
