// What an approver would be asked about edited arguments. Claims no lease, records nothing and runs no body.

import { ToolwrightError } from '../../../core/error/error.ts'
import type { Entry, RequestRecord } from '../../../core/event/event.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { REQUEST_NAMES } from '../../../core/event/request-names.ts'
import type { Session, SessionKey } from '../../../services/session/service.ts'
import { sessionNotFound } from '../../../services/session/session-errors.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { type ReadonlyView, SessionView } from '../../agent/loop/session-view.ts'
import type { InvocationHost } from '../../context/invocation-host.ts'
import type { EditedQuestion } from '../../dispatch/question-about-edit.ts'
import { toContent } from '../request-rules.ts'
import type { ActiveRuns } from '../run/run-factory.ts'
import type { RunServices } from '../run-services.ts'
import type { ApprovalPreview, PreviewApprovalOptions } from '../runner-options.ts'
import { viewWithoutEvents } from '../sessions/stored-view.ts'
import { readAnswers } from './answers.ts'
import { questionsOf } from './edited-questions.ts'

/** Edited arguments of a pending confirmation. */
type Edit = Omit<PreviewApprovalOptions, 'userId' | 'sessionId'>

interface Previewing {
  readonly running: ActiveRuns
  readonly services: RunServices
  readonly tree: AgentTree
}

/** Checks edited arguments like an approval, and asks the tool for its question about them. */
export async function previewApproval(
  key: SessionKey,
  { requestId, args, runContext }: Edit,
  { running, services, tree }: Previewing,
): Promise<ApprovalPreview> {
  const holder = running.of(key).at(-1)?.data
  const stored = holder ? undefined : await readStored(key, services, tree)
  const view = holder?.view ?? (stored as StoredSession).view // one of both is there
  const hostOf = (invocationId: string): InvocationHost =>
    holder ?? storedHost((stored as StoredSession).session, { invocationId, runContext }, services)
  const ask = questionsOf(holder ?? { tree, services }, hostOf)
  let question: EditedQuestion | undefined
  const response = { confirmed: true, args }
  const answer = { functionResponse: { id: requestId, name: REQUEST_NAMES.confirmation, response } }
  await readAnswers(toContent([answer], services.maxResultBytes), {
    folds: view.open().map(({ fold }) => fold),
    now: services.ports.now(),
    asOf: Number.POSITIVE_INFINITY,
    hasClientResult: () => false,
    questionFor: async (...call) => {
      question = await ask(...call)
      return question
    },
  })
  if (!question) throw notEditable(requestId, args)
  if (question.issues !== undefined) {
    const problem = `The edited arguments of request "${requestId}" are invalid: ${question.issues}`
    throw new ToolwrightError('INVALID_REQUEST', `${problem}.`)
  }
  return { hint: question.hint, args: question.args ?? args }
}

/** The arguments are missing, the answer repeats an earlier one, or the request is no confirmation. */
function notEditable(requestId: string, args: unknown): ToolwrightError {
  const problem = args === undefined ? 'args is required' : `Request "${requestId}" has no arguments that can be edited`
  return new ToolwrightError('INVALID_REQUEST', `runner.previewApproval(): ${problem}.`)
}

interface StoredSession {
  readonly session: Session
  readonly view: ReadonlyView
}

async function readStored(key: SessionKey, services: RunServices, tree: AgentTree): Promise<StoredSession> {
  const { sessionService } = services
  const config = sessionService.readLog ? { numRecentEvents: 0 } : undefined
  const session = await sessionService.getSession({ ...key, config })
  if (!session) throw sessionNotFound(key.sessionId)
  if (sessionService.readLog) return { session, view: await viewWithoutEvents(key, { services, tree }) }
  const view = new SessionView(tree)
  view.catchUp(entriesOf(session, await sessionService.pending(key)))
  return { session, view }
}

/** The log of a store that shows no records: its events, and the requests that it lists as pending. */
function entriesOf({ events }: Session, pending: readonly PendingRequest[]): Entry[] {
  const requests = pending.flatMap((request) =>
    request.kind === 'longRunning' ? [] : [recordOf(request, request.kind)],
  )
  const entries = [...events.map((event) => ({ event })), ...requests.map((record) => ({ record }))]
  return entries.map((entry, index) => ({ seq: index + 1, ...entry }))
}

function recordOf(pending: PendingRequest, kind: RequestRecord['kind']): RequestRecord {
  const { id, invocationId, functionCallId: callId, args, hint, schema, editable, createdAt = 0, expiresAt } = pending
  return {
    type: 'request',
    id,
    invocationId,
    path: '',
    callId,
    kind,
    origin: 'gate',
    args,
    definition: '',
    createdAt,
    ...(hint !== undefined && { hint }),
    ...(schema && { schema }),
    ...(editable && { editable }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

/** The stored session as toolsets see it. */
function storedHost(
  session: Session,
  { invocationId, runContext }: Pick<InvocationHost, 'invocationId' | 'runContext'>,
  services: RunServices,
): InvocationHost {
  const { appName, userId, id: sessionId, events, state } = session
  const { artifactService, memoryService, credentialService, auth } = services
  const first = events.find((event) => event.invocationId === invocationId && event.author === 'user')
  return {
    appName,
    userId,
    sessionId,
    invocationId,
    userContent: first?.content,
    runConfig: {},
    runContext,
    artifactService,
    memoryService,
    credentialService,
    sessionService: services.sessionService,
    auth,
    state: { get: (key) => (Object.hasOwn(state, key) ? state[key] : undefined), keys: () => Object.keys(state) },
    session: () => session,
  }
}
