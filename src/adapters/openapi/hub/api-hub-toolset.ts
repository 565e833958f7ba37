import type { AuthConfig, AuthScheme } from '../../../core/content/auth.ts'
import { name, record, textOrCallback } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ReadonlyContext } from '../../../engine/context/context.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import type { Toolset } from '../../../engine/tool/toolset.ts'
import { checkAuthConfig } from '../../../services/auth/config/check-auth-config.ts'
import { endpoint } from '../../../services/auth/config/endpoint.ts'
import { hideCredentials } from '../../../services/auth/config/hide-credentials.ts'
import { type AccessToken, googleCredential } from '../../tools/google-token.ts'
import { apiTools } from '../api-tools.ts'
import { type ApiToolsetOptions, checkApiOptions } from '../toolset-options.ts'
import { isHubResource, readHubSpec } from './api-hub-client.ts'

/** Options of `ApiHubToolset`: those of `OpenApiToolset`, with a name in API Hub instead of a document. */
export interface ApiHubToolsetOptions extends ApiToolsetOptions {
  /** An API, a version or a document: `projects/P/locations/L/apis/A`, with `/versions/V`, with `/specs/S`. */
  readonly apihubResourceName: string
  /** The credential for API Hub, such as a service account or the consent of the user. `auth` is that of the API itself. */
  readonly apihubAuth?: AuthConfig | undefined
  /** Access token for API Hub, or a function that returns one. Default: the application default credentials. */
  readonly accessToken?: AccessToken | undefined
  /** The address of API Hub. Default: `https://apihub.googleapis.com`. */
  readonly apihubUrl?: string | undefined
}

const BEARER: AuthScheme = { type: 'http', scheme: 'bearer' }

/**
 * The operations of an API that Google API Hub describes, as tools.
 *
 * @example
 * const orders = new ApiHubToolset({ apihubResourceName: 'projects/shop/locations/us-central1/apis/orders' })
 */
export class ApiHubToolset implements Toolset {
  /** The name in warnings and errors. */
  readonly name: string
  /** The credential for API Hub. Undefined if an access token is used. */
  readonly authConfig?: AuthConfig | undefined
  /** Listing asks API Hub. */
  readonly isRemote = true
  readonly #listTools: Toolset['listTools']

  constructor(options: ApiHubToolsetOptions) {
    const more = { apihubResourceName: name, apihubAuth: record, accessToken: textOrCallback, apihubUrl: endpoint }
    checkApiOptions('new ApiHubToolset()', options, more)
    const { apihubResourceName, apihubAuth, accessToken, apihubUrl, ...shared } = options
    if (typeof apihubResourceName !== 'string' || !isHubResource(apihubResourceName))
      throw new ToolwrightError(
        'INVALID_CONFIG',
        'new ApiHubToolset(): apihubResourceName must be projects/P/locations/L/apis/A, with /versions/V and /specs/S if you like.',
      )
    this.name = options.name ?? 'apihub'
    const config = apihubAuth && checkAuthConfig(apihubAuth, `Toolset "${this.name}"`)
    if (config) this.authConfig = hideCredentials(config)
    const logger = options.logger ?? console
    this.#listTools = apiTools(this.name, shared, async ({ authCredential }: ReadonlyContext) =>
      readHubSpec(apihubResourceName, {
        hubUrl: apihubUrl ?? 'https://apihub.googleapis.com',
        authScheme: config?.authScheme ?? BEARER,
        credential: config ? requireCredential(authCredential) : await googleCredential(accessToken),
        fetch: options.fetch ?? fetch,
        report: (note) => logger.warn(`Toolset "${this.name}": ${note}`),
      }),
    )
  }

  /** Lists the tools: the same objects each time. Throws if the document cannot be read; the next listing tries again. */
  listTools(context: ReadonlyContext): Promise<readonly Tool[]> {
    return this.#listTools(context)
  }
}

function requireCredential<T>(credential: T | undefined): T {
  if (credential) return credential
  throw new ToolwrightError('INVALID_REQUEST', 'Listing the tools of API Hub needs context.authCredential.')
}
