// Runs one tool call of the AI SDK through the dispatcher: in a run of its own, with an agent whose model makes exactly
// that call. Policies, gates and records apply as in any other run.
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import type { ArtifactService } from '../../artifact/service.ts'
import { parseArtifactUri } from '../../artifact/uri.ts'
import type { JsonObject } from '../../base/json.ts'
import type { FunctionCall, ModelOutput, Part } from '../../content/content.ts'
import type { Event } from '../../event/event.ts'
import { Runner } from '../../runner/runner.ts'
import type { RunnerOptions } from '../../runner/runner-options.ts'
import type { Model } from '../../tool/model.ts'
import type { RunContext } from '../../tool/run-context.ts'
import type { Tool } from '../../tool/tool.ts'

/** The user, the session and the services of a tool call. */
export interface CallEnvironment extends Omit<RunnerOptions, 'agent' | 'models' | 'whilePaused' | 'media'> {
  /** The user the tools act for. */
  readonly userId: string
  /** The session of the call. Default: a new session. */
  readonly sessionId?: string | undefined
  /** Passed to the tools, as `runner.run({ runContext })` does. */
  readonly runContext?: RunContext | undefined
}

/** A finished tool call and its session. */
interface ToolCallRun {
  /** The result of the call. Undefined when the run ended without one. */
  readonly result: ToolCallResult | undefined
  /** The session with the event log of the call. */
  readonly sessionId: string
}

/** The result of a tool call. */
interface ToolCallResult {
  /** The response of the tool. */
  readonly response: JsonObject
  /** What the model sees instead of the response. */
  readonly modelOutput?: ModelOutput | undefined
  /** Media parts of the response. */
  readonly parts: readonly Part[]
}

/** Name of the agent that makes the calls, in the event log. */
export const AGENT_NAME = 'ai_sdk'

/** Runs a tool call and returns its result. A call that becomes pending is cancelled. */
export async function runToolCall(
  tool: Tool,
  call: FunctionCall,
  { userId, sessionId, runContext, ...services }: CallEnvironment,
  signal: AbortSignal | undefined,
): Promise<ToolCallRun> {
  const agent = new LlmAgent({ name: AGENT_NAME, model: singleCallModel(call), tools: [tool] })
  const runner = new Runner({ ...services, agent })
  const run = runner.run({ userId, sessionId, message: `Call ${tool.name}.`, runContext, signal })
  let result: ToolCallResult | undefined
  for await (const event of run) result = readToolResult(event) ?? result
  if (!result) result = await cancelPendingCall(runner, tool, { userId, sessionId: run.sessionId }, runContext)
  else if (services.artifactService) result = await loadMediaBytes(result, services.artifactService)
  return { result, sessionId: run.sessionId }
}

/** Replaces artifact references by their bytes: the AI SDK cannot read artifacts. */
async function loadMediaBytes({ response, parts }: ToolCallResult, service: ArtifactService): Promise<ToolCallResult> {
  const loaded = parts.map(async (part) => {
    const reference = part.fileData && parseArtifactUri(part.fileData.fileUri)
    const stored = reference && (await service.loadArtifact(reference))
    return stored?.inlineData ? { inlineData: stored.inlineData } : part
  })
  return { response, parts: await Promise.all(loaded) }
}

/** Cancels a call with a pending request: the AI SDK has no way to answer it. */
async function cancelPendingCall(
  runner: Runner,
  tool: Tool,
  where: { userId: string; sessionId: string },
  runContext: RunContext | undefined,
): Promise<ToolCallResult | undefined> {
  if ((await runner.pending(where)).length === 0) return undefined
  await runner.cancel({ ...where, runContext })
  const error = `Tool "${tool.name}" was not run: it needs an answer from the user, which toAiSdkTools() cannot request. Call the tool from an agent, or turn acceptAiSdkApproval on if it only needs an approval.`
  return { response: { error, errorCode: 'CANCELLED' }, parts: [] }
}

/** A model that makes one tool call and then ends its turn. */
function singleCallModel(functionCall: FunctionCall): Model {
  let hasCalled = false
  return {
    name: 'ai-sdk-call',
    async *generate({ contents }) {
      const parts = hasCalled ? [] : [{ functionCall }]
      // an agent inside the tool without its own model inherits this model
      if (hasCalled && contents.at(-1)?.role !== 'tool')
        throw new Error(`An agent inside tool "${functionCall.name}" has no model. Set its \`model\`.`)
      hasCalled = true
      yield { content: { role: 'model', parts } }
    },
  }
}

/** The result in an event of the call itself. Events of agents inside the tool have an isolation scope. */
function readToolResult({ author, partial, isolationScope, content }: Event): ToolCallResult | undefined {
  if (author !== AGENT_NAME || partial || isolationScope !== undefined || content?.role !== 'tool') return undefined
  const [first, ...parts] = content.parts
  const { response, modelOutput } = first?.functionResponse ?? {}
  return response && { response, modelOutput, parts }
}
