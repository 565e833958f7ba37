// The prefix of a state key or an artifact filename decides who shares it.

/** The prefix of keys that all users of the app share. */
const APP_PREFIX = 'app:'
/** The prefix of keys and filenames that all sessions of the user share. */
const USER_PREFIX = 'user:'
/** The prefix of keys that exist until the run ends and are never stored. */
const TEMP_PREFIX = 'temp:'

/** Who shares a state key: the whole app, the sessions of one user, or one session. `temp` keys live for one run. */
type KeyScope = 'app' | 'user' | 'session' | 'temp'

/** The scope of a state key, by its prefix. A key without a prefix belongs to the session. */
export function scopeOfKey(key: string): KeyScope {
  if (key.startsWith(APP_PREFIX)) return 'app'
  if (key.startsWith(USER_PREFIX)) return 'user'
  return isTempKey(key) ? 'temp' : 'session'
}

/** A state key without the prefix of its scope. */
export function withoutScope(key: string): string {
  return scopeOfKey(key) === 'session' ? key : key.slice(key.indexOf(':') + 1)
}

/** Is it a state key that lives for one run and is never stored? */
export function isTempKey(key: string): boolean {
  return key.startsWith(TEMP_PREFIX)
}

/** Does the artifact belong to the user, in every session? Otherwise it belongs to one session. */
export function isUserFilename(filename: string): boolean {
  return filename.startsWith(USER_PREFIX)
}

/** The filename without the prefix of a user's artifact. */
export function withoutUserPrefix(filename: string): string {
  return isUserFilename(filename) ? filename.slice(USER_PREFIX.length) : filename
}

/** The prefix of computed values. Only computed values have keys with this prefix. */
export const DERIVED_PREFIX = 'derived:'

/** Is it the state key of a computed value? */
export function isDerivedKey(key: string): boolean {
  return key.startsWith(DERIVED_PREFIX)
}
