import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { CallCard } from '../chat/CallCard.tsx'
import { ChatFold } from '../chat/fold.ts'
import type { CallRow } from '../chat/rows.ts'
import { useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { visibleText } from '../ui/visible-text.ts'
import type { BenchRun } from './bench-run.ts'
import { SaveDialog } from './SaveDialog.tsx'
import { argsToRepeat, decisionsOf } from './saved-decisions.ts'

/** A call of the tool bench: its progress, the requests it waits for, and its result. */
export function RunResult({ run }: { readonly run: BenchRun }): JSX.Element {
  const { log, key } = useSignal(run.view)
  const [isSaving, setSaving] = useState(false)
  const rows = useCalls(run)
  const own = rows.find(({ name }) => name === run.call.tool)
  const { app, userId } = run.call
  const isDone = own?.response !== undefined && !own.response.willContinue
  return (
    <section class="bench-result" aria-label="Result" aria-busy={log.isRunning}>
      <div class="bench-actions">
        <h2>Call</h2>
        {log.isRunning && (
          <Button icon="stop" onClick={() => run.stop()}>
            Stop
          </Button>
        )}
        {isDone && (
          <Button icon="file" onClick={() => setSaving(true)}>
            Save as test
          </Button>
        )}
      </div>
      {rows.map((row) => (
        <CallCard
          key={row.key}
          row={row}
          sessionKey={key ?? { app, userId, sessionId: '' }}
          progress={progressOf(log.streaming, row)}
        />
      ))}
      {log.error !== undefined && (
        <p class="problem" role="alert">
          {visibleText(describeError(log.error))}
        </p>
      )}
      {isSaving && own?.response && (
        <SaveDialog
          call={{ ...run.call, args: argsToRepeat(own) }}
          response={own.response.modelOutput?.response ?? own.response.response}
          decisions={decisionsOf(own)}
          onClose={() => setSaving(false)}
        />
      )}
    </section>
  )
}

/** The calls in the log of a run: the call itself, and those that agents inside it made. */
function useCalls(run: BenchRun): readonly CallRow[] {
  const { log } = useSignal(run.view)
  const isLog = log.entries.length > 0
  const fold = useMemo(() => new ChatFold(), [run, isLog])
  return useMemo(() => fold.update(log).filter((row) => row.type === 'call'), [fold, log.entries, log.recent])
}

function progressOf(streaming: BenchRun['view']['value']['log']['streaming'], { id }: CallRow): unknown {
  for (const { content } of streaming)
    for (const { functionResponse } of content?.parts ?? [])
      if (functionResponse?.id === id) return functionResponse.response.progress
  return undefined
}
