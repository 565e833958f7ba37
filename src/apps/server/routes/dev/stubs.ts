import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { appOf } from '../scope.ts'

/** Empty answers to requests of adk-web about features that Toolwright does not have. */
const EMPTY: readonly (readonly [path: string, answer: unknown])[] = [['tests', []]]

/** Routes of adk-web for its builder and tests, which answer that there is nothing. */
export function stubRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  for (const [path, answer] of EMPTY) {
    app.get(`/dev/apps/:app/${path}`, (context) => {
      appOf(context, parts)
      return context.json(answer)
    })
  }
  app.get('/dev/apps/:app/builder', (context) => {
    appOf(context, parts)
    return context.text('')
  })
  app.get('/config/telemetry', (context) => context.json({ telemetry: false }))
}
