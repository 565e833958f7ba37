// One call of one tool as a run of its own: an agent whose model says just that call, so that it takes the road every
// call takes. Nothing else runs a tool's body.
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import type { ArtifactService } from '../artifact/service.ts'
import { parseArtifactUri } from '../artifact/uri.ts'
import type { JsonObject } from '../base/json.ts'
import type { FunctionCall, ModelOutput, Part } from '../content/content.ts'
import type { Event } from '../event/event.ts'
import { Runner } from '../runner/runner.ts'
import type { RunnerOptions } from '../runner/runner-options.ts'
import type { Model } from '../tool/model.ts'
import type { RunContext } from '../tool/run-context.ts'
import type { Tool } from '../tool/tool.ts'

/** Who calls, and with what services. */
export interface Caller extends Omit<RunnerOptions, 'agent' | 'models' | 'whilePaused' | 'media'> {
  readonly userId: string
  /** A new one without. */
  readonly sessionId?: string | undefined
  /** For the tools, as `runner.run({ runContext })` would pass it. */
  readonly runContext?: RunContext | undefined
}

/** What became of a call, and where its log is. */
export interface OneCall {
  /** Undefined when the run ended, or waits for somebody, without one. */
  readonly result: OneResult | undefined
  readonly sessionId: string
}

export interface OneResult {
  readonly response: JsonObject
  /** What the model sees instead. */
  readonly modelOutput?: ModelOutput | undefined
  /** Media beside it. */
  readonly parts: readonly Part[]
}

/** Who makes the calls, in the log. */
export const AGENT = 'ai_sdk'

export async function runOneCall(
  tool: Tool,
  call: FunctionCall,
  { userId, sessionId, runContext, ...services }: Caller,
  signal: AbortSignal | undefined,
): Promise<OneCall> {
  const agent = new LlmAgent({ name: AGENT, model: saying(call), tools: [tool] })
  const runner = new Runner({ ...services, agent })
  const run = runner.run({ userId, sessionId, message: `Call ${tool.name}.`, runContext, signal })
  let result: OneResult | undefined
  for await (const event of run) result = responseIn(event) ?? result
  if (!result) result = await giveUp(runner, tool, { userId, sessionId: run.sessionId }, runContext)
  else if (services.artifactService) result = await withBytes(result, services.artifactService)
  return { result, sessionId: run.sessionId }
}

/** The log holds references to large media; the AI SDK gets the bytes. */
async function withBytes({ response, parts }: OneResult, service: ArtifactService): Promise<OneResult> {
  const loaded = parts.map(async (part) => {
    const reference = part.fileData && parseArtifactUri(part.fileData.fileUri)
    const stored = reference && (await service.loadArtifact(reference))
    return stored?.inlineData ? { inlineData: stored.inlineData } : part
  })
  return { response, parts: await Promise.all(loaded) }
}

/** Nobody answers questions here: a call that waits for somebody is ended. */
async function giveUp(
  runner: Runner,
  tool: Tool,
  where: { userId: string; sessionId: string },
  runContext: RunContext | undefined,
): Promise<OneResult | undefined> {
  if ((await runner.pending(where)).length === 0) return undefined
  await runner.cancel({ ...where, runContext })
  const error = `Tool "${tool.name}" needs a human's answer and nobody can be asked here; it was not run.`
  return { response: { error, errorCode: 'CANCELLED' }, parts: [] }
}

function saying(functionCall: FunctionCall): Model {
  let isSaid = false
  return {
    name: 'ai-sdk-call',
    async *generate({ contents }) {
      const parts = isSaid ? [] : [{ functionCall }]
      // an agent inside the tool that has no model of its own would come here for one
      if (isSaid && contents.at(-1)?.role !== 'tool')
        throw new Error(`An agent in "${functionCall.name}" has no model.`)
      isSaid = true
      yield { content: { role: 'model', parts } }
    },
  }
}

/** What agents inside the tool did is in scopes of its own. */
function responseIn({ author, partial, isolationScope, content }: Event): OneResult | undefined {
  if (author !== AGENT || partial || isolationScope !== undefined || content?.role !== 'tool') return undefined
  const [first, ...parts] = content.parts
  const { response, modelOutput } = first?.functionResponse ?? {}
  return response && { response, modelOutput, parts }
}
