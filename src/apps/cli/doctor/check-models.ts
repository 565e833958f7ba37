import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { collectAgents, modelNamesOf } from '../load/collect-agents.ts'
import { findModelProblem, hasModel, modelProviders, unknownModel } from '../models.ts'
import { missingPeers } from '../serve/required-peers.ts'
import { type Finding, findingsOf } from './finding.ts'

/** Whether the models of an agent can be made: their packages and keys. Names variables, never their values. */
export function checkModels(root: Agent, env: { readonly [name: string]: string | undefined }): Finding[] {
  const { ok } = findingsOf('model')
  const objects = collectAgents(root).flatMap((agent) =>
    agent instanceof LlmAgent && typeof agent.model === 'object' ? agent.model.name : [],
  )
  return [
    ...modelNamesOf(root).map((name) => checkModel(name, env)),
    ...[...new Set(objects)].map((name) => ok(`${name}, which the agent file creates`)),
  ]
}

function checkModel(name: string, env: { readonly [name: string]: string | undefined }): Finding {
  const { ok, problem } = findingsOf('model')
  const provider = modelProviders.find((one) => hasModel(one, name))
  if (!provider) {
    const { message, fix } = unknownModel(name)
    return problem(message, fix)
  }
  const missing = findModelProblem(provider, name, {
    env,
    isInstalled: missingPeers([provider.packageName]).length === 0,
  })
  return missing
    ? problem(missing.message, missing.fix)
    : ok(`${name}, with ${provider.keyNames.find((key) => env[key])}`)
}
