// The address of an API. Only the developer and the document choose it, never the model.

import { ToolwrightError } from '../../../core/error/error.ts'
import { isLoopback } from '../../../services/auth/config/endpoint.ts'
import type { ApiOperation, ServerTemplate } from '../operation.ts'

/** Options that decide the address. */
export interface BaseUrlOptions {
  /** Replaces the servers of the document, path included. */
  readonly baseUrl?: string | undefined
  /** Values for the variables of server URLs. Default: the defaults of the document. */
  readonly serverVariables?: { readonly [name: string]: string } | undefined
}

/**
 * The address of the server of an operation, without a slash at its end. Throws INVALID_CONFIG if it is no http URL, and if
 * credentials would be sent unencrypted.
 */
export function baseUrlOf(
  operation: Pick<ApiOperation, 'servers'>,
  options: BaseUrlOptions,
  hasCredentials: boolean,
): URL {
  const { baseUrl } = options
  const server = operation.servers[0]
  if (baseUrl === undefined && !server) throw invalid(`The document names no server. Set baseUrl.`)
  const address = baseUrl ?? fillIn(server as ServerTemplate, options.serverVariables ?? {})
  const from = baseUrl === undefined ? 'The server URL of the document' : 'baseUrl'
  if (address.startsWith('//') || !URL.canParse(address))
    throw invalid(`${from} is no absolute URL. Set baseUrl to a URL such as "https://api.example.com/v1".`)
  const url = new URL(address)
  if (!/^https?:$/.test(url.protocol)) throw invalid(`${from} is no http or https URL. Set baseUrl to one.`)
  if (url.username || url.password) throw invalid(`${from} contains a user name or password. Set auth instead.`)
  if (url.search || url.hash) throw invalid(`${from} contains a query or a fragment. Set baseUrl without them.`)
  if (hasCredentials && url.protocol === 'http:' && !isLoopback(url))
    throw invalid(`Credentials are not sent to ${url.origin}: http is not encrypted. Set baseUrl to an https URL.`)
  url.pathname = url.pathname.replace(/\/+$/, '')
  return url
}

function fillIn({ url, variables }: ServerTemplate, given: { readonly [name: string]: string }): string {
  return url.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = variables.get(name)
    const value = Object.hasOwn(given, name) ? given[name] : variable?.default
    if (value === undefined) throw invalid(`The server URL has the variable "${name}". Set it in serverVariables.`)
    if (!variable?.enum || variable.enum.includes(value)) return value
    const allowed = variable.enum.map((one) => `"${one}"`).join(', ')
    throw invalid(`serverVariables: "${name}" must be one of ${allowed}.`)
  })
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
