// For tests only: a request that is about to be sent, and who is asking.
import type { Content } from '../content/content.ts'
import { RunCallbackContext } from '../tool/callback-context.ts'
import type { CallbackContext } from '../tool/context.ts'
import type { InvocationHost } from '../tool/host.ts'
import type { LlmRequest, Tool } from '../tool/tool.ts'

export function userMessage(text: string): Content {
  return { role: 'user', parts: [{ text }] }
}

/** A context as `processLlmRequest` gets it. */
export function requestContext(who: Partial<InvocationHost> = {}): CallbackContext {
  const { appName = 'app', userId = 'ada', sessionId = 's1' } = who
  const host: InvocationHost = {
    appName,
    userId,
    sessionId,
    invocationId: 'e-1',
    userContent: undefined,
    runConfig: {},
    runContext: undefined,
    artifactService: undefined,
    memoryService: undefined,
    credentialService: undefined,
    state: { get: () => undefined, keys: () => [] },
    session: () => ({ id: sessionId, appName, userId, state: {}, events: [], lastUpdateTime: 0 }),
    ...who,
  }
  return new RunCallbackContext(host, 'agent', undefined)
}

/** What a tool adds to the system instruction. */
export async function instructionFrom(tool: Tool, context: CallbackContext): Promise<string | undefined> {
  const added: string[] = []
  const request: LlmRequest = {
    contents: [],
    config: {},
    tools: new Map(),
    appendInstruction: (text) => void added.push(text),
    appendWireTool: () => {},
  }
  await tool.processLlmRequest?.(request, context)
  return added.length ? added.join('\n\n') : undefined
}
