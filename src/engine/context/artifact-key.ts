import type { InvocationHost } from './invocation-host.ts'

/** The key of an artifact of the session. */
export function artifactKey(
  host: InvocationHost,
  filename: string,
): { appName: string; userId: string; sessionId: string; filename: string } {
  return { appName: host.appName, userId: host.userId, sessionId: host.sessionId, filename }
}
