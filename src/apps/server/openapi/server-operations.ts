import { type ApiOperation, list, nothing, text } from './api-operation.ts'
import { ref } from './schemas.ts'

/** Operations about the server and its apps. */
export const SERVER_OPERATIONS: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/health',
    id: 'getHealth',
    summary: 'Says that the server runs.',
    answer: ref('Status'),
    isPublic: true,
  },
  {
    method: 'get',
    path: '/ready',
    id: 'getReadiness',
    summary: 'Says whether the server accepts runs.',
    answer: ref('Status'),
    isPublic: true,
  },
  {
    method: 'get',
    path: '/metrics',
    id: 'getMetrics',
    summary: 'Figures in the text format of Prometheus.',
    answer: 'text/plain',
  },
  { method: 'get', path: '/version', id: 'getVersion', summary: 'The version of the server.', answer: ref('Version') },
  { method: 'get', path: '/openapi.json', id: 'getOpenApi', summary: 'This description.', answer: { type: 'object' } },
  {
    method: 'get',
    path: '/list-apps',
    id: 'listApps',
    summary: 'The names of the apps, or their descriptions.',
    query: { detailed: '`true` describes each app.' },
    answer: { anyOf: [list(text), { type: 'object', properties: { apps: list({ type: 'object' }) } }] },
  },
  {
    method: 'get',
    path: '/apps/{app}/app-info',
    id: 'getAppInfo',
    summary: 'The agents of an app.',
    answer: ref('AppInfo'),
  },
  {
    method: 'get',
    path: '/apps/{app}/fleet',
    id: 'getFleet',
    summary:
      'The workers of an app, its sessions by state, and what waits. Only for principals that may act as any user.',
    answer: ref('Fleet'),
  },
  {
    method: 'post',
    path: '/apps/{app}/fleet/retry',
    id: 'retrySession',
    summary: 'Has workers continue a session that was set aside. Only for principals that may act as any user.',
    body: ref('SessionOfUser'),
    answer: nothing,
  },
]
