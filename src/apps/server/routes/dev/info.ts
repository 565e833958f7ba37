import { basename } from 'node:path'
import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { describeAgents } from '../../graph/describe-agents.ts'
import { checkAnyUser } from '../../principal/authentication.ts'
import { VERSION } from '../../version.ts'
import { appOf } from '../scope.ts'
import { findAgentFile } from './agent-file.ts'

/** Describes the apps and their agents for the workbench. */
export function infoRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  const { apps } = parts
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

  app.get('/dev/apps/:app/agents', (context) => {
    checkAnyUser(context, 'read the agents')
    return context.json({ agents: describeAgents(appOf(context, parts).runner.agent, { showsInstructions: true }) })
  })
}
