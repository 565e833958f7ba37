import { checkOptions, objectWith } from '../../../core/error/check-options.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { MemoryService } from '../../../services/memory/service.ts'
import type { SessionService } from '../../../services/session/service.ts'
import type { Logger } from '../../dispatch/host.ts'
import { rememberSession } from '../sessions/remember-session.ts'
import type { Plugin } from './plugin.ts'

/** Options of `memoryPlugin()`. The services of `sqlite()` fit. */
export interface MemoryPluginOptions {
  /** Has the sessions. */
  readonly sessionService: SessionService
  /** Gets their text. */
  readonly memoryService: MemoryService
  /** Receives the error of a session that could not be added. Default: `console`. */
  readonly logger?: Logger | undefined
}

/**
 * Adds the session to the memory of its user after each run, also a paused one. A failure is logged, and the next run adds it again.
 *
 * @example
 * const services = sqlite('app.db')
 * const runner = new Runner({ appName: 'shop', agent, ...services, plugins: [memoryPlugin(services)] })
 */
export function memoryPlugin({ sessionService, memoryService, logger = console }: MemoryPluginOptions): Plugin {
  const services = { sessionService, memoryService }
  checkOptions('memoryPlugin()', services, {
    sessionService: objectWith('getSession'),
    memoryService: objectWith('addSessionToMemory', 'deleteSession'),
  })
  if (!sessionService || !memoryService) {
    const problem = 'memoryPlugin() needs a sessionService and a memoryService'
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${problem}. Pass those of the runner, such as memoryPlugin(sqlite('app.db')).`,
    )
  }
  return {
    name: 'memory',
    afterRun: async ({ context }) => {
      const { appName, userId, session } = context.invocation
      const sessionId = session.id
      try {
        const stored = await sessionService.getSession({ appName, userId, sessionId })
        if (stored) await rememberSession(stored, services)
      } catch (error) {
        logger.warn(`Session "${sessionId}" was not added to the memory: ${messageOf(error)}`, error)
      }
    },
  }
}
