import { canonicalJson } from '../../../core/base/json.ts'
import type { AuthScheme } from '../../../core/content/auth.ts'
import { digestOf } from '../digest.ts'
import type { CheckedAuthConfig } from './check-auth-config.ts'
import { requestedScopes } from './requested-scopes.ts'

/** The key under which tokens are stored: `credentialKey`, else a digest of scheme, client, provider, resource and scopes. */
export async function credentialKeyOf(config: CheckedAuthConfig): Promise<string> {
  if (config.credentialKey !== undefined) return config.credentialKey
  const digest = await digestOf(canonicalJson(identityOf(config)))
  return `adk_${config.authScheme.type}_${digest.slice(0, 32)}`
}

/** What makes two configurations use the same tokens. It contains no secret: keys are shown in messages. */
function identityOf(config: CheckedAuthConfig): unknown {
  const { authScheme, provider, resource, rawAuthCredential } = config
  const { clientEmail, tokenUri, targetAudience } = rawAuthCredential?.serviceAccount ?? {}
  return {
    scheme: withoutTexts(authScheme),
    provider,
    resource,
    clientId: rawAuthCredential?.oauth2?.clientId,
    account: clientEmail === undefined ? undefined : { clientEmail, tokenUri, targetAudience },
    scopes: (['authorizationCode', 'clientCredentials'] as const).map((flow) => [
      ...new Set([...requestedScopes(config, flow)].sort()),
    ]),
  }
}

/** A scheme without descriptions, and without scopes, which count in any order. */
function withoutTexts(scheme: AuthScheme): unknown {
  if (scheme.type === 'custom') return scheme
  if (scheme.type !== 'oauth2') return { ...scheme, scopes: undefined, description: undefined, bearerFormat: undefined }
  const { authorizationCode, clientCredentials } = scheme.flows
  const flows = [authorizationCode, clientCredentials].map((flow) => flow && { ...flow, scopes: undefined })
  return { type: scheme.type, flows, issuer: scheme.issuer }
}
