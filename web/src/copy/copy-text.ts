import type { SessionKey } from '../api/types.ts'
import { notify } from '../state/notices.ts'
import { linkTo, type SessionRoute } from '../state/route.ts'
import type { MenuItem } from '../ui/Menu.tsx'

/** Copies a text, and says so. */
export async function copyText(text: string, what: string): Promise<void> {
  await navigator.clipboard.writeText(text)
  notify(`Copied ${what}.`)
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
