import { basename } from 'node:path'
import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { VERSION } from '../../version.ts'
import { findAgentFile } from './agent-file.ts'

/** Describes the apps for the workbench. */
export function infoRoutes(app: Hono<ServerEnv>, { apps }: ServerParts): void {
  app.get('/dev/info', async (context) => {
    const { userId, mayActAsAnyUser = false } = context.get('principal')
    const described = apps.all().map(async ({ name, runner, live, tour, file }) => ({
      name,
      rootAgent: runner.agent.name,
      description: runner.agent.description,
      tour,
      hasLive: live !== undefined,
      file: file === undefined ? await findAgentFile(name) : `./${basename(file)}`, // the test is put beside it
    }))
    return context.json({ version: VERSION, userId, mayActAsAnyUser, apps: await Promise.all(described) })
  })
}
