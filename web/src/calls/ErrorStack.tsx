import type { JSX } from 'preact'
import { getStacks } from '../api/dev.ts'
import type { SessionKey } from '../api/types.ts'
import { PlainText, Section } from '../ui/Section.tsx'
import { useLoaded } from './use-loaded.ts'

/** Props of a stack. */
export interface ErrorStackProps {
  /** The session of the call. */
  readonly sessionKey: SessionKey
  /** The id of the call. */
  readonly callId: string
}

/** The stack of the error that a tool threw. Empty if the server has none: it has restarted, or the error was a `ToolError`. */
export function ErrorStack({ sessionKey, callId }: ErrorStackProps): JSX.Element | null {
  const { value: stacks } = useLoaded(() => getStacks(sessionKey), [sessionKey.sessionId, callId])
  const stack = stacks?.findLast(({ functionCallId }) => functionCallId === callId)?.stack
  if (stack === undefined) return null
  return (
    <Section title="Stack">
      <PlainText text={stack} />
    </Section>
  )
}
