import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { CallView } from '../../../src/core/event/views/views.ts'
import { describeError } from '../api/api-error.ts'
import { CallCard } from '../chat/CallCard.tsx'
import { ChatFold } from '../chat/fold.ts'
import { callsIn } from '../chat/rows.ts'
import { useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { visibleText } from '../ui/visible-text.ts'
import type { BenchRun } from './bench-run.ts'
import { SaveDialog } from './SaveDialog.tsx'

/** A call of the tool bench: its progress, the requests it waits for, and its result. */
export function RunResult({ run }: { readonly run: BenchRun }): JSX.Element {
  const { log, key } = useSignal(run.view)
  const [isSaving, setSaving] = useState(false)
  const calls = useCalls(run)
  const own = calls.find(({ name }) => name === run.call.tool)
  const { app, userId } = run.call
  return (
    <section class="bench-result" aria-label="Result" aria-busy={log.isRunning}>
      <div class="bench-actions">
        <h2>Call</h2>
        {log.isRunning && (
          <Button icon="stop" onClick={() => run.stop()}>
            Stop
          </Button>
        )}
        {own?.response && !log.isRunning && (
          <Button icon="file" onClick={() => setSaving(true)}>
            Save as test
          </Button>
        )}
      </div>
      {calls.map((call) => (
        <CallCard
          key={call.id}
          call={call}
          sessionKey={key ?? { app, userId, sessionId: '' }}
          progress={progressOf(log.streaming, call)}
        />
      ))}
      {log.error !== undefined && (
        <p class="problem" role="alert">
          {visibleText(describeError(log.error))}
        </p>
      )}
      {isSaving && own && key && <SaveDialog session={key} callId={own.id} onClose={() => setSaving(false)} />}
    </section>
  )
}

/** The calls in the log of a run: the call itself, and those that agents inside it made. */
function useCalls(run: BenchRun): readonly CallView[] {
  const { log } = useSignal(run.view)
  const isLog = log.entries.length > 0
  const fold = useMemo(() => new ChatFold(), [run, isLog])
  return useMemo(() => callsIn(fold.update(log)), [fold, log.entries, log.recent])
}

function progressOf(streaming: BenchRun['view']['value']['log']['streaming'], { id }: CallView): unknown {
  for (const { content } of streaming)
    for (const { functionResponse } of content?.parts ?? [])
      if (functionResponse?.id === id) return functionResponse.response.progress
  return undefined
}
