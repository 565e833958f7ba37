import { ToolwrightError } from '../../../core/error/error.ts'

/** The origins of `allowedOrigins`. Throws `INVALID_CONFIG` for a pattern, a path or another scheme. */
export function readAllowedOrigins(allowedOrigins: readonly string[] = []): ReadonlySet<string> {
  for (const origin of allowedOrigins) {
    if (isOrigin(origin)) continue
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `createServer(): allowedOrigins has "${origin}". Write each origin in full, such as "https://admin.example.com".`,
    )
  }
  return new Set(allowedOrigins)
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text && !text.includes('*')
}
