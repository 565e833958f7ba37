import type { SessionKey } from '../api/types.ts'
import { dismiss, notify } from '../state/notices.ts'
import { linkTo, type SessionRoute } from '../state/route.ts'
import type { MenuItem } from '../ui/Menu.tsx'

/** How long the page says that something was copied. */
const SHOWN_MS = 2500

let shown = 0

/** Copies a text, and says so for a moment. */
export async function copyText(text: string, what: string): Promise<void> {
  await navigator.clipboard.writeText(text)
  dismiss(shown)
  const id = notify(`Copied ${what}.`)
  shown = id
  setTimeout(() => dismiss(id), SHOWN_MS)
}

/** A menu item that copies a text. */
export function copyItem(what: string, text: () => string): MenuItem {
  return { label: `Copy ${what}`, run: () => copyText(text(), what) }
}

/** A menu item that copies a value as JSON. */
export function copyJsonItem(value: unknown): MenuItem {
  return copyItem('as JSON', () => JSON.stringify(value, null, 2))
}

/** A menu item that copies the address of a session, or of a call, an event or a request in it. */
export function copyLinkItem({ app, userId, sessionId }: SessionKey, to: Partial<SessionRoute> = {}): MenuItem {
  return copyItem('link', () => linkTo({ view: 'session', app, userId, sessionId, tab: 'chat', ...to }))
}
