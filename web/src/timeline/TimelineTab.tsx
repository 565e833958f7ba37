import './timeline.css'
import './steps.css'
import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { SessionKey } from '../api/types.ts'
import { copyJsonItem, copyLinkItem } from '../copy/copy-text.ts'
import { invocationOf } from '../session/find-target.ts'
import { pointed, selection } from '../session/selection.ts'
import type { SessionTabProps } from '../session/session-tab.ts'
import { navigate } from '../state/route.ts'
import { type Signal, signal, useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { formatDuration } from '../ui/format.ts'
import { Menu } from '../ui/Menu.tsx'
import { ComparePicker, itemText, type OtherRun } from './ComparePicker.tsx'
import { Comparison } from './Comparison.tsx'
import { listInvocations } from './list-invocations.ts'
import { StepDetails } from './StepDetails.tsx'
import { StepTable } from './StepTable.tsx'
import { MOST_STEPS, TimelineChart } from './TimelineChart.tsx'
import type { Step, Timeline } from './timeline.ts'
import { entriesOf, useLaterLog, useTimeline } from './use-timeline.ts'

const NO_VIEW: Signal<undefined> = signal(undefined)

/** The Timeline tab of a session: one invocation as a picture and a table, alone or beside another run. */
export function TimelineTab({ log }: SessionTabProps): JSX.Element {
  const view = useLaterLog(useSignal(log.view))
  const items = useMemo(() => listInvocations(entriesOf(view)).toReversed(), [view.entries, view.recent])
  const [chosen, setChosen] = useState<string>()
  const [other, setOther] = useState<OtherRun>()
  const [isComparing, setComparing] = useState(false)
  const target = useSignal(pointed)
  useEffect(() => {
    const run = target && invocationOf(entriesOf(log.view.value), target)
    if (run !== undefined) setChosen(run)
  }, [target])
  const current = items.find(({ id }) => id === chosen) ?? items[0]
  const timeline = useTimeline(view, current?.id)
  const otherTimeline = useTimeline(useSignal(other?.log.view ?? NO_VIEW), other?.invocationId)
  if (!current || !timeline)
    return <p class="empty">{view.status === 'loading' ? 'Loading…' : 'Send a message to see its timeline.'}</p>
  return (
    <div class="view-body timeline-tab">
      <div class="timeline-bar">
        <label>
          <span>Run</span>
          <select value={current.id} onChange={(event) => setChosen(event.currentTarget.value)}>
            {items.slice(0, 500).map((item) => (
              <option key={item.id} value={item.id}>
                {itemText(item)}
              </option>
            ))}
          </select>
        </label>
        {isComparing && <ComparePicker key={current.id} log={log} invocationId={current.id} onChange={setOther} />}
        <Button
          aria-pressed={isComparing}
          onClick={() => {
            setOther(undefined)
            setComparing(!isComparing)
          }}
        >
          {isComparing ? 'End comparison' : 'Compare'}
        </Button>
        {view.hasEarlier && <Button onClick={() => void log.loadEarlier()}>Load earlier runs</Button>}
      </div>
      <Picture
        log={log}
        timeline={timeline}
        other={isComparing ? otherTimeline : undefined}
        otherKey={other?.log.key}
      />
    </div>
  )
}

interface PictureProps extends SessionTabProps {
  readonly timeline: Timeline
  readonly other: Timeline | undefined
  readonly otherKey: SessionKey | undefined
}

function isFailed({ status }: Step): boolean {
  return status === 'failed'
}

const ZOOMS = [1, 1.5, 2, 3, 5, 8, 12, 20, 40]

function Picture({ log, timeline, other, otherKey }: PictureProps): JSX.Element {
  const [foldsWaits, setFoldsWaits] = useState(true)
  const [zoom, setZoom] = useState(0)
  const [selectedId, setSelectedId] = useState<string>()
  const [shownId, setShownId] = useState<string>()
  const timelines = useMemo(() => (other ? [timeline, other] : [timeline]), [timeline, other])
  const find = (id: string | undefined): Step | undefined =>
    timelines.flatMap(({ steps }) => steps).find((step) => step.id === id)
  const target = useSignal(pointed)
  useEffect(() => {
    const id = target && (target.callId ?? target.eventId)
    if (timeline.steps.some((one) => one.id === id)) setSelectedId(id)
    setShownId(undefined)
  }, [target, timeline.invocationId])
  const selected = find(selectedId) ?? timeline.steps.findLast(isFailed)
  const step = find(shownId) ?? selected ?? timeline.steps[0]
  const owner = timelines.find(({ steps }) => step && steps.includes(step)) ?? timeline
  const select = (chosen: Step): void => {
    setSelectedId(chosen.id)
    setShownId(chosen.id)
    if (timeline.steps.includes(chosen)) selectInChat(chosen, timeline.steps)
  }
  const open = (): void => {
    if (step) selectInChat(step, timeline.steps)
    const { app, sessionId } = log.key
    navigate({ view: 'session', app, sessionId, tab: 'chat' })
  }
  useEffect(() => setZoom(0), [timeline.invocationId])
  return (
    <>
      <div class="timeline-bar">
        <Sums timeline={timeline} />
        <label class="check">
          <input type="checkbox" checked={foldsWaits} onChange={() => setFoldsWaits(!foldsWaits)} /> Shorten waiting
        </label>
        <fieldset class="zoom" aria-label="Zoom">
          <Button label="Zoom out" disabled={zoom === 0} onClick={() => setZoom(zoom - 1)}>
            −
          </Button>
          <Button disabled={zoom === 0} onClick={() => setZoom(0)}>
            Fit
          </Button>
          <Button label="Zoom in" disabled={zoom === ZOOMS.length - 1} onClick={() => setZoom(zoom + 1)}>
            +
          </Button>
        </fieldset>
      </div>
      <TimelineChart
        {...{ timelines, foldsWaits }}
        selectedId={selected?.id}
        zoom={ZOOMS[zoom] ?? 1}
        onShow={({ id }) => setShownId(id)}
        onSelect={select}
      />
      {timeline.steps.length > MOST_STEPS && (
        <p class="muted">The first {MOST_STEPS} steps are drawn. The table has all of them.</p>
      )}
      <Legend />
      {step && (
        <StepDetails
          step={step}
          start={owner.start}
          sessionKey={owner === timeline ? log.key : (otherKey ?? log.key)}
          onOpen={owner === timeline ? open : undefined}
        >
          <Menu
            icon="copy"
            label="Copy the step"
            items={() => [copyLinkItem(log.key, { tab: 'timeline', at: step.id }), copyJsonItem(step)]}
          />
        </StepDetails>
      )}
      {other && <Comparison one={timeline} other={other} />}
      <details class="timeline-table">
        <summary>Steps as a table</summary>
        <StepTable timeline={timeline} onSelect={select} />
      </details>
    </>
  )
}

/** The chat shows the event when it is opened. A reply without text is shown by its first call. */
function selectInChat({ eventId, id, kind, result }: Step, steps: readonly Step[]): void {
  const call = kind === 'tool' ? id : steps.find((step) => step.kind === 'tool' && step.eventId === eventId)?.id
  selection.set({ eventId, callId: kind === 'tool' || result === '' ? call : undefined })
}

function Sums({ timeline: { totals } }: { readonly timeline: Timeline }): JSX.Element {
  const { durationMs, waitingMs, modelCalls, toolCalls, inputTokens, outputTokens, failures } = totals
  const sums: readonly (readonly [sum: string | number, of: string])[] = [
    [formatDuration(durationMs), 'in all'],
    [waitingMs > 0 ? formatDuration(waitingMs) : 0, 'waiting'],
    [modelCalls, modelCalls === 1 ? 'model call' : 'model calls'],
    [toolCalls, toolCalls === 1 ? 'tool call' : 'tool calls'],
    [inputTokens + outputTokens > 0 ? `${inputTokens} / ${outputTokens}` : 0, 'tokens in / out'],
    [failures, 'failed'],
  ]
  return (
    <ul class="sums" aria-label="Sums">
      {sums.map(
        ([sum, of]) =>
          (sum !== 0 || /call/.test(of)) && (
            <li key={of} class={of === 'failed' ? of : undefined}>
              <strong>{sum}</strong> {of}
            </li>
          ),
      )}
    </ul>
  )
}

const LEGEND = [
  ['model', 'Model call'],
  ['tool', 'Tool call'],
  ['wait', 'Waiting for a person or a result'],
  ['failed', 'Failed'],
  ['note', '✓ answer'],
  ['note', '→ transfer'],
]

function Legend(): JSX.Element {
  return (
    <ul class="legend" aria-label="Legend">
      {LEGEND.map(([kind, text]) => (
        <li key={text} class={kind}>
          {text}
        </li>
      ))}
    </ul>
  )
}
