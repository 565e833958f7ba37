import type { Runner } from '../../../engine/runner/runner.ts'
import type { RunnerOptions } from '../../../engine/runner/runner-options.ts'

/** The services that a runner made itself, so that another runner of its app uses the same ones. */
export function sharedServices({
  sessionService,
  credentialService,
  internals,
}: Runner): Pick<Runner, 'sessionService' | 'credentialService'> & Pick<RunnerOptions, 'scheduleService'> {
  return { sessionService, credentialService, scheduleService: internals.scheduleService }
}
