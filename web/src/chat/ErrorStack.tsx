import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { getStacks } from '../api/dev.ts'
import type { SessionKey } from '../api/types.ts'
import { Icon } from '../ui/Icon.tsx'
import { visibleText } from '../ui/visible-text.ts'

/** Props of a stack. */
export interface ErrorStackProps {
  /** The session of the call. */
  readonly sessionKey: SessionKey
  /** The id of the call. */
  readonly callId: string
}

/** The stack of the error that a tool threw. Empty if the server has none: it has restarted, or the error was a `ToolError`. */
export function ErrorStack({ sessionKey, callId }: ErrorStackProps): JSX.Element | null {
  const [stack, setStack] = useState<string>()
  const [isOpen, setOpen] = useState(false)
  const { app, userId, sessionId } = sessionKey
  useEffect(() => {
    if (sessionId === '') return
    getStacks({ app, userId, sessionId }).then(
      (stacks) => setStack(stacks.findLast(({ functionCallId }) => functionCallId === callId)?.stack),
      () => {}, // the card shows the message of the error
    )
  }, [app, userId, sessionId, callId])
  if (stack === undefined) return null
  return (
    <div class="card-section">
      <button type="button" class="section-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="chevron" /> Stack
      </button>
      {isOpen && (
        <div class="section-body">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long text is scrolled with the keyboard */}
          <pre class="file-text" tabIndex={0}>
            {visibleText(stack)}
          </pre>
        </div>
      )}
    </div>
  )
}
