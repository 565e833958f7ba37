import type { Hono } from 'hono'
import type { ServerEnv } from '../env.ts'
import { openApiDocument } from '../openapi/document.ts'

/** Serves the OpenAPI description of the API. */
export function openApiRoutes(app: Hono<ServerEnv>): void {
  app.get('/openapi.json', (context) => context.json(openApiDocument()))
}
