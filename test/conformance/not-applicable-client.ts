// Scenarios of the conformance suites that are about something McpToolset does not do.

/** Why client scenarios do not apply, by a pattern of their names. */
export const notApplicableToClient: readonly (readonly [scenario: RegExp, reason: string])[] = [
  [
    /^auth\/(cross-app-access-complete-flow|enterprise-managed-authorization)$/,
    'an extension in which the identity provider of a company consents for its users; a user consents here',
  ],
  [/^auth\/dpop/, 'an extension that binds tokens to a key; only bearer tokens are sent'],
  [/^auth\/wif-jwt-bearer$/, 'an extension that exchanges the identity of a workload for a token'],
  [/^sep-2640-/, 'an extension about skills, which are not loaded from MCP servers'],
]
