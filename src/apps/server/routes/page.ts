import { readFile } from 'node:fs/promises'
import { extname, join, normalize } from 'node:path'
import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../env.ts'

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.json', 'application/json'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
])

/** Addresses without the name of a file. A provider sends the browser back to the second one after a consent. */
const PAGES: ReadonlyMap<string, string> = new Map([
  ['/', '/index.html'],
  ['/oauth/callback', '/oauth/callback.html'],
])

/** The page loads nothing from elsewhere, and text can never become script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "connect-src 'self'",
  "frame-src 'self' blob:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Serves the files of the workbench. */
export function pageRoutes(app: Hono<ServerEnv>, { options: { page } }: ServerParts): void {
  if (page === undefined) return
  app.get('*', async (context, next) => {
    const path = PAGES.get(context.req.path) ?? normalize(context.req.path)
    const type = TYPES.get(extname(path))
    // a path starts with a slash: normalized, it cannot leave the folder
    const content = type === undefined ? undefined : await readFile(join(page, path)).catch(() => undefined)
    if (!content || type === undefined) return await next()
    // the bundler puts a hash of the content into the names of assets
    const caching = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    return new Response(content, {
      headers: { 'content-type': type, 'content-security-policy': POLICY, 'cache-control': caching },
    })
  })
}
