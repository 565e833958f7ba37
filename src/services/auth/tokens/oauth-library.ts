// Loads oauth4webapi on first use. A program that never requests a token does not need it.
import { kindOf } from '../../../core/base/kind-of.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { loadPeerByName } from '../../../core/error/load-peer.ts'

/** The functions of oauth4webapi. The type comes from the devDependency of the same name. */
export type OAuthLibrary = typeof import('oauth4webapi')

const NAME = 'oauth4webapi'

let given: OAuthLibrary | undefined

/**
 * Sets the OAuth library, for programs that are bundled into one file and cannot load a package at run time.
 *
 * @example
 * import * as oauth from 'oauth4webapi'
 * setOAuthLibrary(oauth)
 */
export function setOAuthLibrary(library: { readonly [name: string]: unknown }): void {
  if (typeof library?.genericTokenEndpointRequest !== 'function')
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `setOAuthLibrary() takes the module ${NAME}, got ${kindOf(library)}. Pass it: import * as oauth from '${NAME}'.`,
    )
  given = library as unknown as OAuthLibrary // checked by the presence of one of its functions
}

/** The OAuth library. Throws MISSING_PEER if it is not installed. */
export async function loadOAuthLibrary(): Promise<OAuthLibrary> {
  given ??= (await loadPeerByName(NAME)) as OAuthLibrary
  return given
}
