import { type ApiOperation, list, nothing, PAGES, SESSION, USER } from './api-operation.ts'
import { ref } from './schemas.ts'

/** Operations about sessions and the memory. */
export const SESSION_OPERATIONS: readonly ApiOperation[] = [
  {
    method: 'get',
    path: `${USER}/sessions`,
    id: 'listSessions',
    summary: 'The sessions of a user, without events.',
    query: { ...PAGES, newestFirst: '`true` starts with the newest session.' },
    answer: list(ref('Session')),
  },
  {
    method: 'post',
    path: `${USER}/sessions`,
    id: 'createSession',
    summary: 'Creates a session.',
    body: ref('NewSession'),
    isBodyOptional: true,
    answer: ref('Session'),
  },
  {
    method: 'post',
    path: SESSION,
    id: 'createSessionWithId',
    summary: 'Creates a session with this id. The body is its state. Older clients use it.',
    body: { type: 'object', additionalProperties: true },
    isBodyOptional: true,
    answer: ref('Session'),
  },
  {
    method: 'get',
    path: SESSION,
    id: 'getSession',
    summary: 'A session with its events, or with a page of them.',
    query: PAGES,
    answer: ref('Session'),
  },
  {
    method: 'get',
    path: `${SESSION}/events`,
    id: 'listEvents',
    summary: 'The events of a session.',
    query: PAGES,
    answer: list(ref('Event')),
  },
  {
    method: 'patch',
    path: SESSION,
    id: 'updateSession',
    summary: 'Changes the state of a session, also while a run is under way.',
    body: ref('StateChange'),
    answer: ref('Session'),
  },
  { method: 'delete', path: SESSION, id: 'deleteSession', summary: 'Deletes a session.', answer: nothing },
  {
    method: 'patch',
    path: `${USER}/memory`,
    id: 'addSessionToMemory',
    summary: 'Adds a session to the memory of the user.',
    body: ref('MemoryUpdate'),
    answer: nothing,
  },
]
