import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Part } from '../../../src/core/content/content.ts'
import { MessageCopyMenu } from '../copy/CopyMenu.tsx'
import type { SessionLog } from '../session/session-log.ts'
import { Button } from '../ui/Button.tsx'
import { Time } from '../ui/Time.tsx'
import { VisibleText } from '../ui/VisibleText.tsx'
import { MediaPart } from './MediaPart.tsx'
import { RetryDialog } from './RetryDialog.tsx'
import type { UserRow } from './rows.ts'

/** A message of the user, which can be sent again from here. */
export function UserMessage({ row, log }: { readonly row: UserRow; readonly log: SessionLog }): JSX.Element {
  const [isRetrying, setRetrying] = useState(false)
  return (
    <article class="user-message" aria-label="Your message">
      {row.parts.map((part, at) =>
        part.text === undefined ? (
          <MediaPart key={at} part={part} />
        ) : (
          <p key={at} class="user-text">
            <VisibleText text={part.text} />
          </p>
        ),
      )}
      <p class="byline">
        <Time seconds={row.timestamp} />
        {row.invocationId !== '' && (
          <MessageCopyMenu eventId={row.key} log={log} parts={row.parts} text={textIn(row.parts)} />
        )}
        {row.invocationId !== '' && (
          <Button class="small" icon="retry" kind="plain" label="Retry from here" onClick={() => setRetrying(true)} />
        )}
      </p>
      {isRetrying && <RetryDialog row={row} log={log} onClose={() => setRetrying(false)} />}
    </article>
  )
}

function textIn(parts: readonly Part[]): string {
  return parts.map(({ text = '' }) => text).join('')
}
