import type { Hono } from 'hono'
import { ToolwrightError } from '../../../core/error/error.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import type { ServerEnv, ServerParts } from '../env.ts'
import { describeAgents } from '../graph/describe-agents.ts'
import { VERSION } from '../version.ts'
import { appOf } from './scope.ts'

/** Routes about the apps. */
export function appRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  const { apps } = parts
  app.get('/list-apps', (context) => {
    if (context.req.query('detailed') !== 'true') return context.json(apps.all().map(({ name }) => name))
    const described = apps.all().map(({ name, runner: { agent } }) => ({
      name,
      rootAgentName: agent.name,
      description: agent.description ?? '',
      language: 'typescript',
    }))
    return context.json({ apps: described })
  })

  app.get('/version', (context) =>
    context.json({ version: VERSION, language: 'typescript', language_version: process.versions.node }),
  )

  app.get('/apps/:app/app-info', (context) => {
    const { name, runner } = appOf(context, parts)
    const { agent } = runner
    if (!(agent instanceof LlmAgent)) {
      throw new ToolwrightError('INVALID_REQUEST', `The root agent of app "${name}" is not an LlmAgent.`)
    }
    const { description = '' } = agent
    return context.json({
      name,
      rootAgentName: agent.name,
      description,
      language: 'typescript',
      agents: describeAgents(agent, { showsInstructions: context.get('principal').mayActAsAnyUser === true }),
    })
  })
}
