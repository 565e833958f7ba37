import type { Runner } from '../../../engine/runner/runner.ts'

/** The services that a runner made itself, so that another runner of its app uses the same ones. */
export function sharedServices({
  sessionService,
  credentialService,
}: Runner): Pick<Runner, 'sessionService' | 'credentialService'> {
  return { sessionService, credentialService }
}
