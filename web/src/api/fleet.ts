import type { FleetView } from '../../../src/engine/runner/work/fleet-view.ts'
import { pathOf, requestJson } from './request.ts'

/** Reads the workers and sessions of an app. */
export function getFleet(app: string, signal?: AbortSignal): Promise<FleetView> {
  return requestJson(`${pathOf('apps', app)}/fleet`, { signal })
}

/** Has workers continue a session that was set aside. */
export async function retrySession(
  app: string,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
): Promise<void> {
  await requestJson(`${pathOf('apps', app)}/fleet/retry`, { body: { userId, sessionId } })
}
