import { type ApiOperation, list, nothing, PAGES, SESSION, USER } from './api-operation.ts'
import { ref } from './schemas.ts'

/** Operations that run agents, and about runs and their pending requests. */
export const RUN_OPERATIONS: readonly ApiOperation[] = [
  {
    method: 'post',
    path: `${SESSION}/cancel`,
    id: 'cancelRun',
    summary: 'Cancels the unfinished invocations of a session.',
    body: ref('CancelRequest'),
    isBodyOptional: true,
    answer: nothing,
  },
  {
    method: 'get',
    path: `${SESSION}/stream`,
    id: 'followSession',
    summary: 'Streams the events after one that the client has, until the run under way ends.',
    query: { after: 'The id of the last event that the client has. Default: the latest stored event.' },
    headers: { 'Last-Event-ID': 'The same as `after`.' },
    answer: 'text/event-stream',
  },
  {
    method: 'get',
    path: `${USER}/pending`,
    id: 'listPendingRequests',
    summary: 'Requests that wait for an answer: confirmations, inputs, consents and results.',
    query: { ...PAGES, sessionId: 'Only those of this session.' },
    answer: list(ref('PendingRequest')),
  },
  {
    method: 'get',
    path: '/apps/{app}/pending',
    id: 'listPendingRequestsOfAllUsers',
    summary: 'The pending requests of all users, for principals that may act as any user.',
    query: PAGES,
    answer: list(ref('PendingRequest')),
  },
  {
    method: 'post',
    path: `${SESSION}/pending/{request}`,
    id: 'answerPendingRequest',
    summary:
      'Answers a request, and waits until the run has ended or is paused again. Closing the request does not end the run.',
    body: ref('Answer'),
    answer: list(ref('Event')),
  },
  {
    method: 'post',
    path: `${SESSION}/pending/{request}/preview`,
    id: 'previewApproval',
    summary: 'What an approver is asked about edited arguments. Checks them, and records and runs nothing.',
    body: ref('EditedArguments'),
    answer: ref('ApprovalPreview'),
  },
  {
    method: 'post',
    path: '/run',
    id: 'run',
    summary: 'Sends a message, or answers, and waits until the run has ended or is paused.',
    body: ref('RunRequest'),
    answer: list(ref('Event')),
  },
  {
    method: 'post',
    path: '/run_sse',
    id: 'runAndStream',
    summary: 'The same as `/run`, as a stream of events: `data: <json>`. Closing the request cancels the run.',
    headers: { 'Last-Event-ID': 'Starts nothing: streams what followed this event.' },
    body: ref('RunRequest'),
    answer: 'text/event-stream',
  },
]
