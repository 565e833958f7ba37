// For tests only: a request and its context, as `processLlmRequest` gets them.
import { systemPorts } from '../../core/base/ports.ts'
import type { Content } from '../../core/content/content.ts'
import { RunCallbackContext } from '../../engine/context/callback-context.ts'
import type { CallbackContext } from '../../engine/context/context.ts'
import type { InvocationHost } from '../../engine/context/invocation-host.ts'
import type { LlmRequest } from '../../engine/model/llm-request.ts'
import type { Tool } from '../../engine/tool/tool.ts'

/** A user message with a text. */
export function userMessage(text: string): Content {
  return { role: 'user', parts: [{ text }] }
}

/** A context as `processLlmRequest` gets it. */
export function requestContext(overrides: Partial<InvocationHost> = {}): CallbackContext {
  const { appName = 'app', userId = 'ada', sessionId = 's1' } = overrides
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
    sessionService: undefined,
    auth: { ports: systemPorts },
    state: { get: () => undefined, keys: () => [] },
    session: () => ({ id: sessionId, appName, userId, state: {}, events: [], lastUpdateTime: 0 }),
    ...overrides,
  }
  return new RunCallbackContext(host, 'agent', undefined)
}

/** The text a tool adds to the system instruction. */
export async function instructionFrom(tool: Tool, context: CallbackContext): Promise<string | undefined> {
  const added: string[] = []
  const request: LlmRequest = {
    contents: [],
    config: {},
    tools: new Map(),
    appendInstruction: (text) => void added.push(text),
    appendConfigTool: () => {},
  }
  await tool.processLlmRequest?.(request, context)
  return added.length ? added.join('\n\n') : undefined
}
