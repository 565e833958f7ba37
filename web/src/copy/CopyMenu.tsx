import type { JSX } from 'preact'
import type { Part } from '../../../src/core/content/content.ts'
import type { Entry } from '../../../src/core/event/event.ts'
import type { CallView } from '../../../src/core/event/views/views.ts'
import type { SessionKey } from '../api/types.ts'
import type { SessionLog } from '../session/session-log.ts'
import { appsOf, server } from '../state/server.ts'
import { Menu, type MenuItem } from '../ui/Menu.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { copyItem, copyJsonItem, copyLinkItem } from './copy-text.ts'
import { type CopyTarget, callSnippets, messageSnippets, type Snippets } from './snippets.ts'

/** Props of the menu of a call. */
export interface CallCopyMenuProps {
  /** The call. */
  readonly call: CallView
  /** The session; without an id, it is not known yet. */
  readonly sessionKey: SessionKey
}

/** Copies a call: its link, its JSON, and what makes it again. */
export function CallCopyMenu({ call, sessionKey }: CallCopyMenuProps): JSX.Element {
  const { app, userId, sessionId } = sessionKey
  const copied = { app, userId, agent: call.agent, tool: call.name, args: call.changedArgs ?? call.args }
  const items = (): MenuItem[] => [
    ...(sessionId === '' ? [] : [copyLinkItem(sessionKey, { at: call.id })]),
    copyJsonItem(call),
    ...snippetItems(callSnippets(copied, targetOf(app))),
  ]
  return <Menu icon="copy" label={`Copy the call of ${visibleLine(call.name)}`} items={items} />
}

/** Props of the menu of a message. */
export interface MessageCopyMenuProps {
  /** The event of the message. */
  readonly eventId: string
  /** The session. */
  readonly log: SessionLog
  /** The message of a user, which can be sent again; undefined for a reply. */
  readonly parts?: readonly Part[]
  /** The text. */
  readonly text: string
}

/** Copies a message: its text, its link, its event. That of a user also as what sends it again. */
export function MessageCopyMenu({ eventId, log, parts, text }: MessageCopyMenuProps): JSX.Element {
  const { key, view } = log
  const event = (): unknown => view.value.entries.find((entry) => entry.event?.id === eventId)?.event
  const items = (): MenuItem[] => [
    copyItem('text', () => text),
    copyLinkItem(key, { at: eventId }),
    copyJsonItem(event() ?? { parts, text }),
    ...(parts ? snippetItems(messageSnippets({ ...key, text }, targetOf(key.app))) : []),
  ]
  return <Menu icon="copy" label="Copy the message" items={items} />
}

/** Copies an entry of the log. */
export function EntryCopyMenu({ entry, log }: { readonly entry: Entry; readonly log: SessionLog }): JSX.Element {
  const { event, record, seq } = entry
  const at = event?.id ?? (record && 'id' in record ? record.id : undefined)
  const link = at === undefined ? [] : [copyLinkItem(log.key, { tab: 'inspect', at })]
  return <Menu icon="copy" label={`Copy entry ${seq}`} items={() => [copyJsonItem(event ?? record), ...link]} />
}

function snippetItems(snippets: Snippets): MenuItem[] {
  return Object.entries(snippets).map(([form, text]) => copyItem(`as ${form}`, () => text))
}

function targetOf(app: string): CopyTarget {
  const file = appsOf(server.value).find(({ name }) => name === app)?.file ?? './agent.ts'
  return { origin: location.origin, file }
}
