// What plugins do around a run.
import { copyJson } from '../base/json.ts'
import type { Ports } from '../base/ports.ts'
import type { Content } from '../content/content.ts'
import type { Waiter } from '../dispatch/host.ts'
import type { CallbackContext } from '../tool/context.ts'
import { BRIEFLY_MS } from './event-watch.ts'
import type { Plugin } from './plugin.ts'

export async function tellBeginning(
  plugins: readonly Plugin[],
  message: Content | undefined,
  context: CallbackContext,
): Promise<void> {
  // each plugin gets a copy: what is recorded is what the user sent
  for (const plugin of plugins) await plugin.beforeRun?.({ message: message && copyJson(message), context })
}

export async function tellEnd(plugins: readonly Plugin[], context: CallbackContext): Promise<void> {
  for (const plugin of plugins) await plugin.afterRun?.({ context })
}

interface Stoppable {
  readonly ports: Pick<Ports, 'setTimer'>
  onStop(waiter: Waiter): void
  forget(waiter: Waiter): void
}

/** Plugins may take their time, but not keep a run that is stopped from coming to rest. */
export function unlessItHangs(run: Stoppable, told: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    let cancelTimer: (() => void) | undefined
    const waiter: Waiter = {
      stop: () => {
        cancelTimer ??= run.ports.setTimer(resolve, BRIEFLY_MS)
      },
    }
    run.onStop(waiter)
    void told.then(() => {
      run.forget(waiter)
      cancelTimer?.()
      resolve()
    })
  })
}
