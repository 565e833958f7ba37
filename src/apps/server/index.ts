/**
 * The HTTP server: ADK's routes, live sessions and the workbench.
 *
 * @module
 */
export { createServer, type ListenOptions, type ToolwrightServer } from './create-server.ts'
export { bearerTokens, type FindPrincipal } from './principal/bearer-tokens.ts'
export { type OidcOptions, oidc } from './principal/oidc.ts'
export type { Authenticate, MayAnswer, Principal } from './principal/principal.ts'
export type {
  ClientStateOptions,
  LiveAppOptions,
  RecoverySweepOptions,
  ServerLimits,
  ServerOptions,
  SweepPruneOptions,
} from './server-options.ts'
