// Approvals for toAiSdkTools(): when the AI SDK must ask the user, and whether its messages contain an approval.
import { canonicalJson, isRecord, type JsonObject } from '../../../core/base/json.ts'
import { systemPorts } from '../../../core/base/ports.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import type { InvocationHost } from '../../../engine/context/invocation-host.ts'
import { readonlyContext } from '../../../engine/context/readonly-context.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import type { InputSchema } from './input-schema.ts'
import { type ApprovalEnvironment, requestApproval } from './recorded-approvals.ts'
import { AGENT_NAME, type CallEnvironment } from './run-tool-call.ts'

/** The tool's `requiresConfirmation` as `needsApproval` of the AI SDK. Undefined when the tool has none. */
export function approvalGate(
  tool: Tool,
  parse: InputSchema['parse'],
  environment: CallEnvironment,
): boolean | ((input: unknown) => Promise<boolean>) | undefined {
  const { requiresConfirmation } = tool
  if (typeof requiresConfirmation !== 'function') return requiresConfirmation ? true : undefined
  // only `false` runs the call without an approval
  return async (input) => {
    try {
      const { value } = await parse(input)
      const context = readonlyContext(await sessionHost(environment), AGENT_NAME, undefined)
      return !isRecord(value) || (await requiresConfirmation.call(tool, value, context)) !== false
    } catch {
      return true
    }
  }
}

/** The same gate, which also records the request, so that an approval in later messages can answer it. */
export function recordingGate(
  tool: Tool,
  parse: InputSchema['parse'],
  environment: ApprovalEnvironment,
): ((input: unknown, options?: unknown) => Promise<boolean>) | undefined {
  const gate = approvalGate(tool, parse, environment)
  if (gate === undefined) return undefined
  return async (input, options) => {
    if (gate !== true && !(await (gate as (input: unknown) => Promise<boolean>)(input))) return false
    const { toolCallId, messages } = isRecord(options) ? options : {}
    // the AI SDK asks again when the messages have an approval: only a call that is new is a request
    const isNew = typeof toolCallId === 'string' && toolCallId !== '' && !mentionsCall(messages, toolCallId)
    if (isNew && isRecord(input)) {
      await requestApproval(tool, { id: toolCallId, name: tool.name, args: toJsonArgs(input) }, environment)
    }
    return true
  }
}

/** The arguments of a call as JSON. */
export function toJsonArgs(input: JsonObject): JsonObject {
  return toJsonValue(input).value as JsonObject // the JSON of an object is an object
}

/** A minimal host, which can only read the session. */
async function sessionHost({
  appName,
  userId,
  sessionId = '',
  sessionService,
  ...services
}: CallEnvironment): Promise<InvocationHost> {
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
    sessionService,
    auth: { ports: systemPorts },
    state: {
      get: (key) => (Object.hasOwn(session.state, key) ? session.state[key] : undefined),
      keys: () => Object.keys(session.state),
    },
    session: () => session,
  }
}

/** Whether the messages contain an approval of exactly this call: same id, name and arguments. */
export function isApproved(messages: unknown, call: { id: string; name: string; input: unknown }): boolean {
  const parts = partsIn(messages)
  const wasCalled = parts.some(
    (part) =>
      part.type === 'tool-call' &&
      part.toolCallId === call.id &&
      part.toolName === call.name &&
      canonicalJson(part.input) === canonicalJson(call.input),
  )
  const requests = parts.filter((part) => part.type === 'tool-approval-request')
  return (
    wasCalled &&
    requests.some(({ approvalId, toolCallId }) => {
      if (toolCallId !== call.id) return false
      const answers = parts.filter((part) => part.type === 'tool-approval-response' && part.approvalId === approvalId)
      const isForThis = requests.every((other) => other.approvalId !== approvalId || other.toolCallId === call.id)
      const isGiven = answers.length > 0 && answers.every(({ role, approved }) => role === 'tool' && approved === true)
      return isForThis && isGiven
    })
  )
}

/** The calls that the user has denied in the messages, by id, with the reason. */
export function deniedCalls(messages: unknown): ReadonlyMap<string, string | undefined> {
  const parts = partsIn(messages)
  const denials = parts.filter(
    ({ type, role, approved }) => type === 'tool-approval-response' && role === 'tool' && approved === false,
  )
  const denied = new Map<string, string | undefined>()
  for (const { approvalId, reason } of denials) {
    for (const { type, toolCallId, approvalId: asked } of parts) {
      if (type !== 'tool-approval-request' || asked !== approvalId || typeof toolCallId !== 'string') continue
      denied.set(toolCallId, typeof reason === 'string' ? reason : undefined)
    }
  }
  return denied
}

/** Do the messages contain this call, or a request, an answer or a result about it? */
function mentionsCall(messages: unknown, toolCallId: string): boolean {
  return partsIn(messages).some((part) => part.toolCallId === toolCallId)
}

function partsIn(messages: unknown): JsonObject[] {
  return (Array.isArray(messages) ? messages : []).flatMap((message: unknown): JsonObject[] => {
    const { role, content }: JsonObject = isRecord(message) ? message : {}
    return Array.isArray(content) ? content.filter(isRecord).map((part) => ({ ...part, role })) : []
  })
}
