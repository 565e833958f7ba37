import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { EvalFolders } from '../../evals/eval-folders.ts'
import { inboxRoutes } from '../pending.ts'
import { callRoutes } from './calls.ts'
import { changeRoutes } from './changes.ts'
import { evalRunRoutes } from './eval-runs.ts'
import { evalSetRoutes } from './eval-sets.ts'
import { evaluationRoutes } from './evaluations.ts'
import { firstMessageRoutes } from './first-messages.ts'
import { forkRoutes } from './fork.ts'
import { graphRoutes } from './graph.ts'
import { infoRoutes } from './info.ts'
import { logRoutes } from './log.ts'
import { memorySearchRoutes } from './memory.ts'
import { modelCallRoutes } from './model-calls.ts'
import { sessionSearchRoutes } from './session-search.ts'
import { statsRoutes } from './stats.ts'
import { stubRoutes } from './stubs.ts'
import { toolRoutes } from './tools.ts'
import { traceRoutes } from './trace.ts'

/** The routes for developers. Only a server with `dev` has them, but that of model calls, which has an option of its own. */
export function devRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  if (parts.options.recordModelCalls ?? parts.options.dev) modelCallRoutes(app, parts)
  if (!parts.options.dev) return
  infoRoutes(app, parts)
  inboxRoutes(app, parts)
  logRoutes(app, parts)
  forkRoutes(app, parts)
  firstMessageRoutes(app, parts)
  sessionSearchRoutes(app, parts)
  callRoutes(app, parts)
  statsRoutes(app, parts)
  changeRoutes(app, parts)
  toolRoutes(app, parts)
  memorySearchRoutes(app, parts)
  graphRoutes(app, parts)
  traceRoutes(app, parts)
  const folders = new EvalFolders(parts)
  evalSetRoutes(app, parts, folders)
  evalRunRoutes(app, parts, folders)
  evaluationRoutes(app, parts, folders)
  stubRoutes(app, parts)
}
