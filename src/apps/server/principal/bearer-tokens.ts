import { createHash } from 'node:crypto'
import { ToolwrightError } from '../../../core/error/error.ts'
import { bearerOf } from './bearer.ts'
import type { Authenticate, Principal } from './principal.ts'

/** Finds the principal of a token; undefined if the token is not valid. */
export type FindPrincipal = (token: string) => Principal | undefined | Promise<Principal | undefined>

/** Shorter tokens can be guessed. */
const MIN_LENGTH = 16

/**
 * Authenticates requests by bearer tokens: a table of tokens and their users, or a function that looks a token up.
 *
 * @example
 * createServer({ apps, authenticate: bearerTokens({ [process.env.ADA_TOKEN]: 'ada' }) })
 */
export function bearerTokens(tokens: { readonly [token: string]: string | Principal } | FindPrincipal): Authenticate {
  const find = typeof tokens === 'function' ? tokens : findIn(tokens)
  return (request) => {
    const token = bearerOf(request)
    return token === undefined ? undefined : find(token)
  }
}

/** The table has the hashes of the tokens: how long a lookup takes says nothing about them. */
function findIn(tokens: { readonly [token: string]: string | Principal }): FindPrincipal {
  const principals = new Map(
    Object.entries(tokens).map(([token, user]) => {
      if (token.length < MIN_LENGTH)
        throw new ToolwrightError(
          'INVALID_CONFIG',
          `bearerTokens(): a token must have ${MIN_LENGTH} characters or more.`,
        )
      return [hash(token), typeof user === 'string' ? { userId: user } : user]
    }),
  )
  return (token) => principals.get(hash(token))
}

function hash(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
