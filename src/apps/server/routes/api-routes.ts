import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../env.ts'
import { appRoutes } from './apps.ts'
import { artifactRoutes } from './artifacts.ts'
import { fleetRoutes } from './fleet.ts'
import { memoryRoutes } from './memory.ts'
import { openApiRoutes } from './openapi.ts'
import { pendingRoutes } from './pending.ts'
import { runRoutes } from './run.ts'
import { sessionRunRoutes } from './session-runs.ts'
import { sessionRoutes } from './sessions.ts'

/** The routes for clients: those of ADK, and ours for pending requests and runs under way. */
export function apiRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  appRoutes(app, parts)
  sessionRoutes(app, parts)
  sessionRunRoutes(app, parts)
  artifactRoutes(app, parts)
  memoryRoutes(app, parts)
  fleetRoutes(app, parts)
  pendingRoutes(app, parts)
  runRoutes(app, parts)
  openApiRoutes(app)
}
