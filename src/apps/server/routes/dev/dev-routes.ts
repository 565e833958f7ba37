import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { EvalFolders } from '../../evals/eval-folders.ts'
import { inboxRoutes } from '../pending.ts'
import { changeRoutes } from './changes.ts'
import { evalRunRoutes } from './eval-runs.ts'
import { evalSetRoutes } from './eval-sets.ts'
import { firstMessageRoutes } from './first-messages.ts'
import { graphRoutes } from './graph.ts'
import { infoRoutes } from './info.ts'
import { logRoutes } from './log.ts'
import { memorySearchRoutes } from './memory.ts'
import { sessionSearchRoutes } from './session-search.ts'
import { stackRoutes } from './stacks.ts'
import { statsRoutes } from './stats.ts'
import { stubRoutes } from './stubs.ts'
import { toolRoutes } from './tools.ts'
import { traceRoutes } from './trace.ts'

/** The routes for developers. Only a server with `dev` has them. */
export function devRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  if (!parts.options.dev) return
  infoRoutes(app, parts)
  inboxRoutes(app, parts)
  logRoutes(app, parts)
  firstMessageRoutes(app, parts)
  sessionSearchRoutes(app, parts)
  stackRoutes(app, parts)
  statsRoutes(app, parts)
  changeRoutes(app, parts)
  toolRoutes(app, parts)
  memorySearchRoutes(app, parts)
  graphRoutes(app, parts)
  traceRoutes(app, parts)
  const folders = new EvalFolders(parts)
  evalSetRoutes(app, parts, folders)
  evalRunRoutes(app, parts, folders)
  stubRoutes(app, parts)
}
