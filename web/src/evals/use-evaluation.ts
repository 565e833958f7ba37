import { useEffect, useRef, useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { type EvalFrame, type EvalRequest, runEvalSet } from '../api/evals.ts'

/** An evaluation, as far as it has come. Without pass rates while the cases run, and if they were stopped. */
export interface Evaluation extends Required<EvalFrame> {
  /** Do cases run? */
  readonly isRunning: boolean
  /** Why it ended early. */
  readonly error?: string
}

/** Runs sets, one at a time. A run ends when the page is left. */
export function useEvaluation(): {
  readonly evaluation: Evaluation | undefined
  start(request: EvalRequest): void
  stop(): void
} {
  const [evaluation, setEvaluation] = useState<Evaluation>()
  const running = useRef<AbortController | undefined>(undefined)
  const stop = (): void => running.current?.abort()
  useEffect(() => stop, [])
  const start = async (request: EvalRequest): Promise<void> => {
    stop()
    running.current = new AbortController()
    const { signal } = running.current
    let now: Evaluation = { cases: 0, results: [], passRates: [], isRunning: true }
    const show = (more: Partial<Evaluation>): void => {
      now = { ...now, ...more }
      if (running.current?.signal === signal) setEvaluation(now)
    }
    show({})
    try {
      for await (const frame of runEvalSet(request, signal))
        show({ ...frame, results: [...now.results, ...(frame.results ?? [])] })
    } catch (error) {
      if (!signal.aborted) show({ error: describeError(error) })
    }
    show({ isRunning: false })
  }
  return { evaluation, start: (request) => void start(request), stop }
}
