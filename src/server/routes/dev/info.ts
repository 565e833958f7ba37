import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { VERSION } from '../../version.ts'

/** Describes the apps for the workbench. */
export function infoRoutes(app: Hono<ServerEnv>, { apps }: ServerParts): void {
  app.get('/dev/info', (context) =>
    context.json({
      version: VERSION,
      apps: apps.all().map(({ name, runner, live, tour }) => ({
        name,
        rootAgent: runner.agent.name,
        description: runner.agent.description,
        tour,
        hasLive: live !== undefined,
      })),
    }),
  )
}
