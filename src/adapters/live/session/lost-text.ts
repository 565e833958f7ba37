import type { LiveConnectionError } from '../../../engine/model/live-model.ts'

/** Why a session ends whose connection cannot be made again. The provider's error says why; what helps the app is another session. */
export function lostText({ message, recover }: LiveConnectionError, storedSessionId: string | undefined): string {
  if (recover === 'nothing') return message
  const advice =
    storedSessionId === undefined
      ? 'Connect a new session'
      : `Continue with connectLive() and sessionId "${storedSessionId}"`
  return `${message} All attempts to reconnect are used up. ${advice}.`
}
