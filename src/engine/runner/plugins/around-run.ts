// Calls `beforeRun` and `afterRun` of plugins.
import { copyJson, isRecord } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import type { Content } from '../../../core/content/content.ts'
import type { CallbackContext } from '../../context/context.ts'
import type { DispatchHost } from '../../dispatch/host.ts'
import { isPlainObject } from '../../policy/plain-json.ts'
import { STOP_TIMEOUT_MS } from './event-plugins.ts'
import type { Plugin } from './plugin.ts'

/** Calls `beforeRun` of all plugins, one after another. */
export async function beforeRun(
  plugins: readonly Plugin[],
  message: Content | undefined,
  context: CallbackContext,
): Promise<void> {
  for (const plugin of plugins) {
    // each plugin gets a copy: the message is recorded as the user sent it
    const returned: unknown = await plugin.beforeRun?.({ message: message && copyJson(message), context })
    if (returned !== undefined && isMeantAsReply(returned)) {
      throw new Error(
        `Plugin "${plugin.name}": beforeRun returned ${kindOf(returned)}. Its return value is ignored. Throw an error to stop the run.`,
      )
    }
  }
}

/** Did the plugin author mean to stop or answer the run? Numbers or a Set are accidental results of arrow functions. */
function isMeantAsReply(returned: unknown): boolean {
  if (returned === false || returned === null || typeof returned === 'string') return true
  return isRecord(returned) && isPlainObject(returned)
}

/** Calls `afterRun` of all plugins, one after another. */
export async function afterRun(plugins: readonly Plugin[], context: CallbackContext): Promise<void> {
  for (const plugin of plugins) await plugin.afterRun?.({ context })
}

/** Waits for plugins. Once the run is stopped, waits at most `STOP_TIMEOUT_MS`. */
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
