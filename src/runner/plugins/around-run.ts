// What plugins do around a run.
import { copyJson, isRecord } from '../../base/json.ts'
import { kindOf } from '../../base/kind-of.ts'
import type { Content } from '../../content/content.ts'
import type { DispatchHost } from '../../dispatch/host.ts'
import { isPlainObject } from '../../policy/plain-json.ts'
import type { CallbackContext } from '../../tool/context.ts'
import { STOP_TIMEOUT_MS } from './event-plugins.ts'
import type { Plugin } from './plugin.ts'

export async function beforeRun(
  plugins: readonly Plugin[],
  message: Content | undefined,
  context: CallbackContext,
): Promise<void> {
  for (const plugin of plugins) {
    // each plugin gets a copy: what is recorded is what the user sent
    const said: unknown = await plugin.beforeRun?.({ message: message && copyJson(message), context })
    if (said !== undefined && isMeantAsReply(said)) {
      throw new Error(
        `Plugin "${plugin.name}": beforeRun returned ${kindOf(said)}. What it returns is not read: throw an error to stop the run.`,
      )
    }
  }
}

/** Was it meant to stop or answer the run? A number or a Set is what an arrow function returns by accident. */
function isMeantAsReply(said: unknown): boolean {
  if (said === false || said === null || typeof said === 'string') return true
  return isRecord(said) && isPlainObject(said)
}

export async function afterRun(plugins: readonly Plugin[], context: CallbackContext): Promise<void> {
  for (const plugin of plugins) await plugin.afterRun?.({ context })
}

/** Awaits plugins, but not longer than a moment once the run is stopped. */
export function withStopTimeout(
  { services, stop }: Pick<DispatchHost, 'services' | 'stop'>,
  work: Promise<void>,
): Promise<void> {
  return new Promise((resolve) => {
    let cancelTimer: (() => void) | undefined
    const listener = {
      stop: () => {
        cancelTimer ??= services.ports.setTimer(resolve, STOP_TIMEOUT_MS)
      },
    }
    stop.add(listener)
    void work.then(() => {
      stop.delete(listener)
      cancelTimer?.()
      resolve()
    })
  })
}
