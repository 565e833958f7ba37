import { type Context, createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import type { Part } from '../../../src/core/content/content.ts'
import { describeError } from '../api/api-error.ts'
import type { AppRequest } from '../inbox/app-request.ts'
import { pending, refreshPending } from '../inbox/pending-store.ts'
import { server } from '../state/server.ts'
import { useSignal } from '../state/signal.ts'
import { sendAnswer } from './send-answer.ts'

/** How far the answer to a request is. */
export interface AnswerState {
  /** Is an answer on its way? The form disappears when the server has recorded it. */
  readonly isSending: boolean
  /** Why the server refused the answer; empty if it did not. */
  readonly problem: string
  /** Sends an answer. A second one is ignored while the first is on its way. */
  send(answer: Part): void
}

/** Sends an answer. The user may have taken it back. */
type SendAnswer = (target: AppRequest, answer: Part) => Promise<'sent' | 'undone'>

/** How answers are sent. Default: at once. */
export const AnswerSender: Context<SendAnswer> = createContext<SendAnswer>(sendAnswer)

/** The answer to one request. */
export function useAnswer(target: AppRequest): AnswerState {
  const [isSending, setSending] = useState(false)
  const [problem, setProblem] = useState('')
  const isBusy = useRef(false)
  const sender = useContext(AnswerSender)
  const reset = (): void => {
    isBusy.current = false
    setSending(false)
  }
  const send = (answer: Part): void => {
    if (isBusy.current) return
    isBusy.current = true
    setSending(true)
    setProblem('')
    sender(target, answer).then(
      (outcome) => {
        if (outcome === 'undone') reset()
      },
      (error: unknown) => {
        reset()
        setProblem(describeError(error))
        void refreshPending()
      },
    )
  }
  // a server that has stopped may not have recorded the answer; if it has, the form disappears
  const info = useSignal(server)
  useEffect(reset, [info])
  return { isSending, problem, send }
}

/** How long a form must have been in its place before a click on it counts. */
const SETTLE_MS = 500

/**
 * True once everything below the component has been drawn, which takes two frames. When the list of requests changes, forms may
 * move: it is false until the user has had time to see that.
 */
export function useIsDrawn(): boolean {
  const list = useSignal(pending)
  const [drawn, setDrawn] = useState<unknown>(NOTHING)
  const isFirst = drawn === NOTHING
  useEffect(() => {
    if (!isFirst) {
      const timer = setTimeout(() => setDrawn(list), SETTLE_MS)
      return () => clearTimeout(timer)
    }
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => setDrawn(list))
    })
    return () => cancelAnimationFrame(frame)
  }, [list])
  return drawn === list
}

const NOTHING = Symbol('nothing')
