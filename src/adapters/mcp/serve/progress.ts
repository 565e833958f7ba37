import { isRecord } from '../../../core/base/json.ts'

/** The parameters of `notifications/progress`, without the token. */
export interface Progress {
  /** How much is done. Larger in each notification. */
  readonly progress: number
  /** How much there is to do. */
  readonly total?: number
  /** What is being done. */
  readonly message?: string
}

/** More notifications that wait to be sent are dropped: a client that does not read must not fill the memory. */
const MAX_WAITING = 100

/**
 * Sends progress values of a tool to a client. A number, or `{ progress, total?, message? }`, is sent as it is; any other
 * value is a message. A value that does not increase counts one step.
 */
export function progressSender(send: (progress: Progress) => Promise<void>): (value: unknown) => void {
  let last = Number.NEGATIVE_INFINITY
  let waiting = 0
  return (value) => {
    if (waiting >= MAX_WAITING) return
    const given = readProgress(value)
    const { progress = Math.max(last, 0) + 1, ...rest } = given
    last = progress > last ? progress : last + 1
    waiting++
    const sent = (): void => {
      waiting--
    }
    send({ ...rest, progress: last }).then(sent, sent) // the client has gone: its call is cancelled elsewhere
  }
}

function readProgress(value: unknown): Partial<Progress> {
  if (typeof value === 'number' && Number.isFinite(value)) return { progress: value }
  if (typeof value === 'string') return { message: value }
  if (!isRecord(value) || typeof value.progress !== 'number') return { message: JSON.stringify(value) }
  const { progress, total, message } = value
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  }
}
