import { loadPeerByName } from '../../../core/error/load-peer.ts'
import type { Terminal } from '../terminal.ts'
import { fleetSecret } from '../worker/restate-arguments.ts'
import type { OpenedApp } from './open-apps.ts'

/** Has the workers of a fleet continue what the apps submit and answer. A runner with an engine of its own keeps it. */
export async function useRestate(
  apps: readonly OpenedApp[],
  ingress: string,
  { env }: Pick<Terminal, 'env'>,
): Promise<void> {
  const secret = fleetSecret(env)
  const { restate } = (await loadPeerByName('toolwright/restate')) as typeof import('../../restate/index.ts')
  const engine = restate({ ingress, secret })
  for (const { runner } of apps) runner.internals.useEngine(engine)
}
