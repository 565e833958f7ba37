import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { quote } from '../document/api-document.ts'

/** Why no credential of this package can satisfy a security scheme, and what the developer can do. */
interface SchemeProblem {
  /** The reason, as the end of a sentence about the scheme. */
  readonly reason: string
  /** What to do, as a sentence. */
  readonly advice: string
}

/** The problem of a scheme that `toAuthScheme` cannot convert. `name` is its name in the document. */
export function schemeProblem(scheme: JsonObject | undefined, name: string): SchemeProblem {
  const own = `and set auth: { ${JSON.stringify(name)}: 'anonymous' }.`
  switch (scheme?.type) {
    case undefined:
      return { reason: 'the document does not describe it', advice: `Set its authScheme in the option auth.` }
    case 'mutualTLS':
      return { reason: 'it is a client certificate', advice: `Send the certificate in the option fetch, ${own}` }
    case 'http': {
      const reason = `the HTTP scheme ${quote(String(scheme.scheme))} is not supported`
      return { reason, advice: `Authenticate in the option fetch, ${own}` }
    }
    case 'oauth2':
      return { reason: flowsProblem(scheme.flows), advice: TOKEN }
    case 'openIdConnect':
      return { reason: 'its openIdConnectUrl is not an https URL', advice: TOKEN }
    case 'apiKey':
      return {
        reason: 'the document does not say where the key is sent',
        advice: 'Set its authScheme in the option auth.',
      }
    default:
      return {
        reason: `its type ${quote(String(scheme?.type))} is not known`,
        advice: `Authenticate in the option fetch, ${own}`,
      }
  }
}

const TOKEN =
  'Set a token in the option auth, as rawAuthCredential with the authType "http" and the scheme "bearer", or an authScheme with another flow.'

/** The implicit and password flows are not used: they expose tokens and passwords (RFC 9700). */
function flowsProblem(flows: unknown): string {
  const names = isRecord(flows) ? Object.keys(flows) : []
  const exposing = names.filter((name) => name === 'implicit' || name === 'password')
  if (exposing.length === 0 || exposing.length < names.length) return 'it has no flow with https URLs'
  const what = exposing.map((name) => `the ${name} flow`).join(' and ')
  return `it has only ${what} of OAuth, which ${exposing.length > 1 ? 'expose' : 'exposes'} secrets`
}
