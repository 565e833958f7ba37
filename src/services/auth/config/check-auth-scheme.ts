import { isRecord } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import type { AuthScheme, OAuthFlow } from '../../../core/content/auth.ts'
import { checkOptions, flag, name, oneOf, type Rule, record, text } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { endpoint } from './endpoint.ts'

/** A list of scopes. */
export const scopeList: Rule = {
  expects: 'a list of scopes, each a string without spaces',
  accepts: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && /^[!-~]+$/.test(one)),
  hint: (value) => (typeof value === 'string' ? 'Put the scopes into a list: ["a", "b"].' : 'Use one item per scope.'),
}

/** The characters that the name of a header, a cookie or a parameter may have. */
const token: Rule = {
  expects: 'the name of a header, a query parameter or a cookie',
  accepts: (value) => typeof value === 'string' && /^[\w!#$%&'*+.^`|~[\]-]+$/.test(value),
}

const scopeTexts: Rule = {
  expects: 'an object from each scope to its description',
  accepts: (value) =>
    isRecord(value) && scopeList.accepts(Object.keys(value)) && Object.values(value).every(text.accepts),
  hint: () => `Example: { 'mail.read': 'Read your mail' }.`,
}

type Rules = { readonly [member: string]: Rule }

/** The rules of each type of scheme. OpenAPI allows a `description` in each. */
const SCHEME_RULES: ReadonlyMap<string, { readonly required: readonly string[]; readonly rules: Rules }> = new Map([
  ['apiKey', { required: ['in', 'name'], rules: { in: oneOf('header', 'query', 'cookie'), name: token } }],
  ['http', { required: ['scheme'], rules: { scheme: oneOf('basic', 'bearer'), bearerFormat: text } }],
  ['oauth2', { required: ['flows'], rules: { flows: record, issuer: endpoint, sendsIssuer: flag } as Rules }],
  [
    'openIdConnect',
    { required: ['openIdConnectUrl'], rules: { openIdConnectUrl: endpoint, scopes: scopeList } as Rules },
  ],
  ['serviceAccount', { required: [], rules: {} }],
])
const TYPES = [...SCHEME_RULES.keys(), 'custom']

const FLOW_RULES: { readonly [member in keyof OAuthFlow]-?: Rule } = {
  authorizationUrl: endpoint,
  tokenUrl: endpoint,
  refreshUrl: endpoint,
  scopes: scopeTexts,
}

/** Throws INVALID_CONFIG if a scheme has an unknown type, an unknown member, or a member of the wrong kind. */
export function checkAuthScheme(what: string, scheme: AuthScheme): void {
  checkOptions(what, { type: scheme.type }, { type: oneOf(...TYPES) })
  checkRequired(what, scheme, ['type'])
  if (scheme.type === 'custom') {
    checkOptions(what, { name: scheme.name }, { name })
    checkRequired(what, scheme, ['name'])
    return
  }
  const { required, rules } = SCHEME_RULES.get(scheme.type) as { required: readonly string[]; rules: Rules }
  checkOptions(what, scheme, { type: text, description: text, ...rules })
  checkRequired(what, scheme, required)
  if (scheme.type === 'oauth2') checkFlows(`${what}.flows`, scheme.flows)
}

/** Throws INVALID_CONFIG for the first member that is missing. */
export function checkRequired(what: string, given: object, members: readonly string[]): void {
  const missing = members.find((member) => (given as Record<string, unknown>)[member] === undefined)
  if (missing === undefined) return
  throw new ToolwrightError('INVALID_CONFIG', `${what}: ${missing} is missing, got ${kindOf(given)}. Set ${missing}.`)
}

/** Flows that are refused, with the reason. */
const REFUSED_FLOWS: ReadonlyMap<string, string> = new Map([
  [
    'implicit',
    'it puts the access token into the address of the browser, where history, logs and other pages can read it',
  ],
  ['password', 'it gives the password of the user to this app'],
])

function checkFlows(what: string, flows: object): void {
  for (const [flow, reason] of REFUSED_FLOWS) {
    if (!Object.hasOwn(flows, flow)) continue
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what}: the ${flow} flow is refused, because ${reason} (RFC 9700). Use authorizationCode.`,
    )
  }
  const { authorizationCode, clientCredentials } = flows as { [flow: string]: object | undefined }
  checkOptions(what, flows, { authorizationCode: record, clientCredentials: record })
  if (!authorizationCode && !clientCredentials)
    throw new ToolwrightError('INVALID_CONFIG', `${what} is empty. Set authorizationCode or clientCredentials.`)
  if (authorizationCode) checkFlow(`${what}.authorizationCode`, authorizationCode, ['authorizationUrl', 'tokenUrl'])
  if (clientCredentials) checkFlow(`${what}.clientCredentials`, clientCredentials, ['tokenUrl'])
}

function checkFlow(what: string, flow: object, required: readonly string[]): void {
  checkOptions(what, flow, FLOW_RULES)
  checkRequired(what, flow, required)
}
