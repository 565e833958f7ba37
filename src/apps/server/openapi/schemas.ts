// The JSON schemas of the API, by name.
import type { JsonObject } from '../../../core/base/json.ts'

/** A reference to a schema of the document. */
export function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` }
}

const text = { type: 'string' }
const flag = { type: 'boolean' }
const data = { type: 'object', additionalProperties: true }
const count = { type: 'integer', minimum: 1 }
const number = { type: 'integer', minimum: 0 }
const milliseconds = { type: 'number', minimum: 0 }
const seconds = { type: 'number', description: 'Seconds since the epoch.' }

function list(items: JsonObject): JsonObject {
  return { type: 'array', items }
}

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

/** The schemas of bodies and answers. Clients may send the members of bodies in snake_case, too. */
export const SCHEMAS: { readonly [name: string]: JsonObject } = {
  Error: object({ error: text, errorCode: text, correlationId: text }, ['error', 'errorCode', 'correlationId']),
  Part: {
    ...object({
      text,
      thought: flag,
      functionCall: object({ id: text, name: text, args: data }, ['name']),
      functionResponse: object({ id: text, name: text, response: data, willContinue: flag }, ['name', 'response']),
      inlineData: object({ mimeType: text, data: { ...text, contentEncoding: 'base64' }, displayName: text }),
      fileData: object({ fileUri: text, mimeType: text, displayName: text }),
      executableCode: object({ language: text, code: text }),
      codeExecutionResult: object({ outcome: text, output: text }),
    }),
    description: 'One part of a message. It usually has one of these members.',
  },
  Content: object({ role: { enum: ['user', 'model', 'tool'] }, parts: list(ref('Part')) }, ['parts']),
  EventActions: object({
    stateDelta: data,
    artifactDelta: { type: 'object', additionalProperties: { type: 'integer' } },
    requestedToolConfirmations: data,
    requestedAuthConfigs: data,
    skipSummarization: flag,
    transferToAgent: text,
    escalate: flag,
    endOfAgent: flag,
  }),
  Event: {
    ...object(
      {
        id: text,
        invocationId: text,
        author: { ...text, description: '`user`, or the name of an agent.' },
        timestamp: seconds,
        content: ref('Content'),
        partial: flag,
        turnComplete: flag,
        interrupted: flag,
        branch: text,
        longRunningToolIds: list(text),
        errorCode: text,
        errorMessage: text,
        finishReason: text,
        modelVersion: text,
        usageMetadata: data,
        groundingMetadata: data,
        citationMetadata: data,
        customMetadata: data,
        nodeInfo: object({ path: text }),
        callTimes: {
          type: 'object',
          additionalProperties: object({ startedAt: seconds, endedAt: seconds }),
          description: 'When the calls of a batch ran, by call id.',
        },
        failedAttempts: {
          type: 'object',
          additionalProperties: list(
            object(
              { attempt: count, attempts: count, error: text, errorCode: text, startedAt: seconds, endedAt: seconds },
              ['attempt', 'errorCode', 'startedAt', 'endedAt'],
            ),
          ),
          description: 'The failed attempts of calls that were tried again, by call id.',
        },
        imported: {
          ...flag,
          description:
            'The event was imported: nothing in it happened in this app. The server sets it, never a client.',
        },
        handles: {
          type: 'object',
          additionalProperties: data,
          description: 'What long-running calls have returned, by call id. Their results come later.',
        },
        actions: ref('EventActions'),
      },
      ['id', 'invocationId', 'author', 'timestamp', 'actions'],
    ),
    description: 'One item of a session, in the form of ADK.',
  },
  Session: object(
    { id: text, appName: text, userId: text, state: data, events: list(ref('Event')), lastUpdateTime: seconds },
    ['id', 'appName', 'userId', 'state', 'events', 'lastUpdateTime'],
  ),
  NewSession: object({
    sessionId: { ...text, description: 'Default: a random id.' },
    state: data,
    events: { ...list(ref('Event')), description: 'Imported as finished history.' },
  }),
  StateChange: object({ stateDelta: { ...data, description: '`null` deletes a key.' } }, ['stateDelta']),
  RunRequest: object(
    {
      appName: text,
      userId: text,
      sessionId: text,
      newMessage: { ...ref('Content'), description: 'A message, or answers to pending requests.' },
      invocationId: { ...text, description: 'Without a message: the interrupted invocation to continue.' },
      streaming: { ...flag, description: 'Sends partial events. Default false.' },
      stateDelta: { type: ['object', 'null'], additionalProperties: true },
      customMetadata: data,
      functionCallEventId: { ...text, description: 'Accepted for ADK clients, and not used.' },
    },
    ['appName', 'userId', 'sessionId'],
  ),
  CancelRequest: object({ invocationId: { ...text, description: 'Default: all unfinished invocations.' } }),
  PendingRequest: object(
    {
      id: { ...text, description: 'The id that an answer names.' },
      kind: { enum: ['confirmation', 'credential', 'input', 'longRunning'] },
      userId: text,
      sessionId: text,
      invocationId: text,
      functionCallId: text,
      tool: text,
      args: data,
      handle: { ...data, description: 'What the body of a long-running call returned, such as a ticket.' },
      hint: text,
      agent: text,
      createdAt: seconds,
      expiresAt: seconds,
      schema: data,
      editable: flag,
      authUri: text,
    },
    ['id', 'kind', 'userId', 'sessionId', 'invocationId', 'functionCallId', 'tool', 'args', 'agent'],
  ),
  Answer: {
    ...object({
      confirmed: { ...flag, description: 'Approves (true) or denies (false) a confirmation.' },
      args: {
        ...data,
        description: 'With `confirmed: true`: arguments that replace those of the call, if it is `editable`.',
      },
      payload: { description: 'With `confirmed: true`: data for the tool.' },
      reason: { ...text, description: 'With `confirmed: false` or `declined`: why. The model reads it.' },
      result: { description: 'The value of an input request.' },
      authResponseUri: {
        ...text,
        description: 'The address that the consent of a credential request was redirected to.',
      },
      declined: { ...flag, description: 'Declines an input or credential request.' },
    }),
    description: 'The answer to a pending request. The result of a long-running call may have any members.',
    additionalProperties: true,
  },
  EditedArguments: object({ args: { ...data, description: 'The edited arguments.' } }, ['args']),
  ApprovalPreview: object(
    {
      hint: { ...text, description: 'The question about the edited arguments.' },
      args: { ...data, description: 'The arguments that the tool would get.' },
    },
    ['hint', 'args'],
  ),
  NewArtifact: object({ filename: text, artifact: ref('Part'), customMetadata: data }, ['filename', 'artifact']),
  ArtifactVersion: object({ version: { type: 'integer' }, mimeType: text, createTime: seconds, customMetadata: data }, [
    'version',
    'createTime',
  ]),
  SessionOfUser: object({ userId: text, sessionId: text }, ['userId', 'sessionId']),
  Fleet: object(
    {
      appName: text,
      workers: list(ref('Worker')),
      listsWorkers: { ...flag, description: 'Does the store keep workers? Else the list is empty.' },
      sessions: {
        ...object({
          running: number,
          interrupted: number,
          setAside: number,
          posted: number,
          waiting: number,
          idle: number,
        }),
        description: 'How many sessions are in which state. Absent if the store cannot count them.',
      },
      pending: object({
        count: number,
        oldest: object({ id: text, kind: text, userId: text, sessionId: text, tool: text, ageMs: milliseconds }, [
          'id',
          'kind',
          'userId',
          'sessionId',
          'tool',
        ]),
      }),
      recoveries: {
        ...object({ count: number, p50Ms: milliseconds, p99Ms: milliseconds }, ['count']),
        description:
          'How long sessions were without a holder after a worker had died: from its last sign of life to the first append of the next one.',
      },
      setAside: list(
        object({ appName: text, userId: text, sessionId: text, reason: text }, ['userId', 'sessionId', 'reason']),
      ),
    },
    ['appName', 'workers', 'listsWorkers', 'pending', 'recoveries', 'setAside'],
  ),
  Worker: object(
    {
      id: text,
      label: text,
      engine: { enum: ['store', 'restate'] },
      version: { ...text, description: 'The version of Toolwright.' },
      agents: { ...text, description: 'Equal for workers that run the same agents.' },
      startedAt: { ...milliseconds, description: 'Milliseconds since the epoch, on the clock of the worker.' },
      running: number,
      continued: number,
      crashes: number,
      unseenMs: milliseconds,
      isLost: flag,
    },
    ['id', 'engine', 'version', 'agents', 'startedAt', 'running', 'continued', 'crashes', 'unseenMs', 'isLost'],
  ),
  MemoryUpdate: object({ sessionId: text }, ['sessionId']),
  Version: object({ version: text, language: text, language_version: text }),
  Status: object({ status: text }, ['status']),
  AppInfo: object({ name: text, rootAgentName: text, description: text, language: text, agents: data }),
}
