import './live.css'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { RequestForm } from '../requests/RequestForm.tsx'
import type { SessionTabProps } from '../session/session-tab.ts'
import { useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { Elapsed, Time } from '../ui/Time.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { LiveConnection } from './live-connection.ts'
import type { CallItem, LiveView } from './live-view.ts'
import { Transcript } from './Transcript.tsx'

/** The Live tab of a session: speaks and listens, with the transcript, the tool calls and the phases. */
export function LiveTab({ log }: SessionTabProps): JSX.Element {
  const [connection] = useState(() => new LiveConnection(log.key))
  const view = useSignal(connection.view)
  useEffect(() => () => connection.close(), [])
  useEffect(() => {
    if (view.status === 'closed') void log.sync().catch(() => {}) // the other tabs show what was recorded
  }, [view.status])
  const isOn = view.status !== 'idle' && view.status !== 'closed'
  return (
    <div class="live">
      <Controls connection={connection} isOn={isOn} />
      {view.problem !== undefined && (
        <p class="problem" role="alert">
          {visibleLine(view.problem)}
        </p>
      )}
      <div class="live-body">
        <Facts view={view} />
        <Transcript items={view.items} requests={view.requests} />
      </div>
      {view.requests.map((request) => (
        <section key={request.id} class="live-request" aria-label={`Request of ${visibleLine(request.tool)}`}>
          <h2>{visibleLine(request.tool)}</h2>
          <RequestForm target={{ app: log.key.app, request }} />
        </section>
      ))}
      {isOn && <TextField connection={connection} isReady={view.status === 'open'} />}
    </div>
  )
}

const STATUS: { readonly [Status in LiveView['status']]: string } = {
  idle: 'Not connected',
  connecting: 'Connecting…',
  open: 'Live',
  reconnecting: 'Reconnecting…',
  closed: 'Ended',
}

interface ControlsProps {
  readonly connection: LiveConnection
  readonly isOn: boolean
}

function Controls({ connection, isOn }: ControlsProps): JSX.Element {
  const { status } = useSignal(connection.view)
  const level = useSignal(connection.level)
  const isMuted = useSignal(connection.isMuted)
  return (
    <div class="live-bar">
      <span class={`live-status ${status}`} role="status">
        {STATUS[status]}
      </span>
      {level !== undefined && (
        <>
          <meter class="live-level" min={0} max={1} value={level} aria-label="Microphone level" />
          <Button aria-pressed={isMuted} onClick={() => connection.toggleMute()}>
            {isMuted ? 'Unmute' : 'Mute'}
          </Button>
        </>
      )}
      {isOn ? (
        <Button kind="danger" icon="stop" onClick={() => connection.close()}>
          End
        </Button>
      ) : (
        <>
          <Button kind="primary" icon="microphone" onClick={() => void connection.open({ withMicrophone: true })}>
            Start speaking
          </Button>
          <Button icon="keyboard" onClick={() => void connection.open({ withMicrophone: false })}>
            Start with text only
          </Button>
        </>
      )}
    </div>
  )
}

/** What goes on beside what is said: phases, calls that have not ended, and the watchers that ran. */
function Facts({ view: { phases, items, hooks, requests } }: { readonly view: LiveView }): JSX.Element | null {
  const open = items.filter((item) => item.type === 'call' && item.status === 'running') as readonly CallItem[]
  if (phases.length + open.length + hooks.length === 0) return null
  return (
    <div class="live-facts">
      <Phases phases={phases} />
      {open.length > 0 && (
        <section>
          <h2>Open calls</h2>
          <ul aria-label="Open calls">
            {open.map(({ id, call, startedAt }) => (
              <li key={id}>
                <code>{visibleLine(call.name)}</code>
                {requests.some((one) => one.functionCallId === call.id) ? (
                  'waits for you'
                ) : (
                  <Elapsed from={startedAt} />
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      {hooks.length > 0 && (
        <section>
          <h2>Watchers and patterns</h2>
          <ul aria-label="Watchers and patterns">
            {hooks.map(({ hook, name, count, at }) => (
              <li key={`${hook} ${name}`} title={hook}>
                <code>{visibleLine(name)}</code>
                {count > 1 && `${count} times, at`} <Time seconds={at} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function Phases({ phases }: { readonly phases: readonly string[] }): JSX.Element | null {
  if (phases.length === 0) return null
  return (
    <ol class="live-phases" aria-label="Phases">
      {phases.slice(-8).map((phase, at, shown) => (
        <li key={`${at} ${phase}`} aria-current={at === shown.length - 1 ? 'step' : undefined}>
          {visibleLine(phase)}
        </li>
      ))}
    </ol>
  )
}

interface TextFieldProps {
  readonly connection: LiveConnection
  readonly isReady: boolean
}

function TextField({ connection, isReady }: TextFieldProps): JSX.Element {
  const [text, setText] = useState('')
  // Enter was pressed before the session was ready: the text stays in the field and is sent as soon as it is
  const [isWaiting, setWaiting] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const send = (): void => {
    setWaiting(!isReady)
    if (!isReady) return
    connection.sendText(text.trim())
    setText('')
  }
  useEffect(() => {
    if (isReady && isWaiting) send()
  }, [isReady])
  const submit = (event: Event): void => {
    event.preventDefault()
    if (text.trim() !== '') send()
    field.current?.focus()
  }
  const type = (typed: string): void => {
    setText(typed)
    setWaiting(false)
  }
  return (
    <form class="live-text" onSubmit={submit}>
      <label>
        <span class="visually-hidden">Message</span>
        <input
          ref={field}
          placeholder="Type instead of speaking"
          value={text}
          onInput={(event) => type(event.currentTarget.value)}
        />
      </label>
      <Button kind="primary" icon="send" type="submit" label="Send" disabled={text.trim() === ''} />
    </form>
  )
}
