import type { JsonObject } from '../../../core/base/json.ts'
import type { AuthScheme } from '../../../core/content/auth.ts'
import { quote } from '../document/api-document.ts'
import type { SecurityRequirement } from '../operation.ts'
import { type AuthOption, isAuthConfig } from './auth-option.ts'
import { schemeProblem } from './scheme-problem.ts'
import { toAuthScheme } from './to-auth-scheme.ts'

/** The credentials of the developer, and the schemes they are for. */
interface MissingContext {
  readonly auth: AuthOption | undefined
  readonly schemes: ReadonlyMap<string, JsonObject>
}

/** What an operation without credentials needs, and what the developer can do: the end of a sentence about the operation. */
export function describeMissing(
  alternatives: readonly (readonly SecurityRequirement[])[],
  context: MissingContext,
): string {
  const alternative = mostLikely(alternatives, context)
  const schemes = alternative.map(({ scheme }) => quote(scheme)).join(' and ')
  const needs = `needs credentials for the security scheme ${schemes}`
  const unusable = alternative.find(({ scheme }) => !authSchemeOf(scheme, context))
  if (!unusable || hasOwnScheme(unusable.scheme, context)) return `${needs}. ${usualAdvice(alternative, context)}`
  const { reason, advice } = schemeProblem(context.schemes.get(unusable.scheme), unusable.scheme)
  const which = alternative.length > 1 ? quote(unusable.scheme) : 'It'
  return `${needs}. ${which} cannot be used: ${reason}. ${advice}`
}

/** The alternative that the developer configured in part, else the first one that can be configured, else the first one. */
function mostLikely(
  alternatives: readonly (readonly SecurityRequirement[])[],
  context: MissingContext,
): readonly SecurityRequirement[] {
  const { auth } = context
  const isNamed = ({ scheme }: SecurityRequirement): boolean =>
    typeof auth === 'object' && !isAuthConfig(auth) && Object.hasOwn(auth, scheme)
  const isUsable = ({ scheme }: SecurityRequirement): boolean => authSchemeOf(scheme, context) !== undefined
  const found = alternatives.find((one) => one.some(isNamed)) ?? alternatives.find((one) => one.every(isUsable))
  return found ?? alternatives[0] ?? []
}

function usualAdvice(alternative: readonly SecurityRequirement[], { auth }: MissingContext): string {
  if (auth !== undefined && isAuthConfig(auth))
    return alternative.length > 1
      ? 'One configuration serves one scheme: set auth to an object with a configuration for each scheme.'
      : 'The configuration in the option auth is for a scheme of another type.'
  return "The developer must set them in the option auth, return them from the option headers, or set auth: 'anonymous'."
}

function authSchemeOf(name: string, { schemes }: MissingContext): AuthScheme | undefined {
  const scheme = schemes.get(name)
  return scheme && toAuthScheme(scheme)
}

/** Did the developer say how the scheme is used? */
function hasOwnScheme(name: string, { auth }: MissingContext): boolean {
  if (typeof auth !== 'object' || isAuthConfig(auth) || !Object.hasOwn(auth, name)) return false
  const config = auth[name]
  return config === 'anonymous' || config?.authScheme !== undefined || config?.provider !== undefined
}
