// Approvals on the way to the AI SDK: when it must ask, and what it says was answered.
import { canonicalJson, isRecord, type JsonObject } from '../../base/json.ts'
import type { InvocationHost } from '../../tool/host.ts'
import { readonlyContext } from '../../tool/invocation.ts'
import type { Tool } from '../../tool/tool.ts'
import { AGENT, type Caller } from './run-tool-call.ts'
import type { InputSchema } from './input-schema.ts'

/** The tool's own gate, for the AI SDK to ask at; undefined when it has none. */
export function needsApproval(
  tool: Tool,
  parse: InputSchema['parse'],
  caller: Caller,
): boolean | ((input: unknown) => Promise<boolean>) | undefined {
  const { requiresConfirmation } = tool
  if (typeof requiresConfirmation !== 'function') return requiresConfirmation ? true : undefined
  // anything but a clear `false` asks
  return async (input) => {
    try {
      const { value } = await parse(input)
      const context = readonlyContext(await hostOf(caller), AGENT, undefined)
      return !isRecord(value) || (await requiresConfirmation.call(tool, value, context)) !== false
    } catch {
      return true
    }
  }
}

/** Just enough to look at the session. */
async function hostOf({
  appName,
  userId,
  sessionId = '',
  sessionService,
  ...services
}: Caller): Promise<InvocationHost> {
  const found = sessionId ? await sessionService?.getSession({ appName, userId, sessionId }) : undefined
  const session = found ?? { id: sessionId, appName, userId, state: {}, events: [], lastUpdateTime: 0 }
  return {
    appName,
    userId,
    sessionId,
    invocationId: '',
    userContent: undefined,
    runConfig: {},
    runContext: services.runContext,
    artifactService: services.artifactService,
    memoryService: services.memoryService,
    credentialService: services.credentialService,
    state: {
      get: (key) => (Object.hasOwn(session.state, key) ? session.state[key] : undefined),
      keys: () => Object.keys(session.state),
    },
    session: () => session,
  }
}

/** Do the messages hold a yes to this very call: its id, its name, its arguments? */
export function isApproved(messages: unknown, call: { id: string; name: string; input: unknown }): boolean {
  const parts = (Array.isArray(messages) ? messages : []).flatMap((message: unknown): JsonObject[] => {
    const { role, content }: JsonObject = isRecord(message) ? message : {}
    return Array.isArray(content) ? content.filter(isRecord).map((part) => ({ ...part, role })) : []
  })
  const wasCalled = parts.some(
    (part) =>
      part.type === 'tool-call' &&
      part.toolCallId === call.id &&
      part.toolName === call.name &&
      canonicalJson(part.input) === canonicalJson(call.input),
  )
  const asked = parts.filter((part) => part.type === 'tool-approval-request' && part.toolCallId === call.id)
  return (
    wasCalled &&
    asked.some(({ approvalId }) => {
      const answers = parts.filter((part) => part.type === 'tool-approval-response' && part.approvalId === approvalId)
      return answers.length > 0 && answers.every(({ role, approved }) => role === 'tool' && approved === true)
    })
  )
}
