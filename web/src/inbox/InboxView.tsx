import type { JSX, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { RequestForm } from '../requests/RequestForm.tsx'
import { AnswerSender } from '../requests/use-answer.ts'
import { chooseUser } from '../state/preferences.ts'
import { navigate } from '../state/route.ts'
import { useShortcuts } from '../state/shortcuts.ts'
import { useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { Time, TimeLeft } from '../ui/Time.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { type AppRequest, keyOf } from './app-request.ts'
import {
  type GivenAnswer,
  type HeldAnswer,
  heldAnswers,
  holdAnswer,
  sendHeldAnswers,
  sentAnswers,
  UNDO_SECONDS,
} from './held-answers.ts'
import { pending, refreshPending } from './pending-store.ts'

/** Each request reads a part of its log, so that a long list is shown in steps. */
const STEP = 20

/** The pending requests of all sessions, the oldest first, so that a new one never moves the others. */
export function InboxView(): JSX.Element {
  const all = useSignal(pending)
  const list = useRef<HTMLUListElement>(null)
  const [shown, setShown] = useState(STEP)
  useEffect(() => {
    void refreshPending()
    return sendHeldAnswers
  }, [])
  useKeptFocus(list, all?.length)
  useShortcuts([
    { keys: 'j', label: 'Next request', run: () => move(list.current, 1) },
    { keys: 'k', label: 'Previous request', run: () => move(list.current, -1) },
  ])
  return (
    <div class="view">
      <header class="view-head">
        <h1>Inbox</h1>
        <span class="muted">{all && `${all.length} open`}</span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the list is scrolled with the keyboard */}
      <section class="view-body" tabIndex={0} aria-label="Open requests">
        <div class="column">
          <SentAnswers />
          {all?.length === 0 && <p class="empty">Nothing waits for you.</p>}
          <ul class="inbox" ref={list}>
            {all?.slice(0, shown).map((target) => (
              <li key={keyOf(target)} tabIndex={-1}>
                <AnswerSender.Provider value={holdAnswer}>
                  <InboxItem target={target} />
                </AnswerSender.Provider>
              </li>
            ))}
          </ul>
          {all && all.length > shown && (
            <Button class="more-requests" onClick={() => setShown(shown + STEP)}>
              Show more, {all.length - shown} are left
            </Button>
          )}
        </div>
      </section>
    </div>
  )
}

const KINDS: { readonly [kind: string]: { readonly label: string; readonly icon: IconName } } = {
  confirmation: { label: 'Approval', icon: 'shield' },
  input: { label: 'Question', icon: 'chat' },
  credential: { label: 'Sign-in', icon: 'key' },
  longRunning: { label: 'Result', icon: 'clock' },
  choice: { label: 'Choice', icon: 'chat' },
}

function InboxItem({ target }: { readonly target: AppRequest }): JSX.Element {
  const { app, request } = target
  const kind = request.tool === 'get_user_choice' ? 'choice' : request.kind
  const { label, icon } = KINDS[kind] ?? { label: request.kind, icon: 'inbox' }
  const held = useSignal(heldAnswers).find((one) => keyOf(one.target) === keyOf(target))
  return (
    <article class="card waiting" aria-label={`${label} for ${visibleLine(request.tool)}`}>
      <header class="card-head">
        <span class="status">
          <Icon name={icon} /> {label}
        </span>
        <strong class="tool-name">{visibleLine(request.tool)}</strong>
        <span class="card-time">{request.createdAt !== undefined && <Time seconds={request.createdAt} />}</span>
      </header>
      <dl class="facts">
        <dt>App</dt>
        <dd>{visibleLine(app)}</dd>
        <dt>Agent</dt>
        <dd>{visibleLine(request.agent)}</dd>
        <dt>User</dt>
        <dd>{visibleLine(request.userId)}</dd>
        {request.expiresAt !== undefined && (
          <>
            <dt>Expires</dt>
            <dd>
              <TimeLeft seconds={request.expiresAt} />
            </dd>
          </>
        )}
      </dl>
      <div hidden={held !== undefined}>
        <RequestForm target={target} />
      </div>
      {held && <Held held={held} />}
      <OpenSession target={target} />
    </article>
  )
}

function OpenSession({ target: { app, request } }: { readonly target: AppRequest }): JSX.Element {
  const show = (): void => {
    chooseUser(request.userId)
    navigate({ view: 'session', app, sessionId: request.sessionId, tab: 'chat' })
  }
  return (
    <Button kind="plain" icon="chat" onClick={show}>
      Open session
    </Button>
  )
}

/** An answer that is about to be sent. */
function Held({ held }: { readonly held: HeldAnswer }): JSX.Element {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => place.current?.closest('li')?.focus(), []) // the button that had the focus is hidden
  return (
    <div class="request-actions" ref={place}>
      <strong>{held.label}.</strong> It is sent in {UNDO_SECONDS} seconds, and final then.
      <Button onClick={held.undo}>Undo</Button>
      <Button onClick={held.send}>Send now</Button>
    </div>
  )
}

/** What was answered lately. A screen reader hears it. */
function SentAnswers(): JSX.Element {
  const sent = useSignal(sentAnswers)
  const held = useSignal(heldAnswers)
  return (
    <>
      <p class="visually-hidden" role="status">
        {held.map(whatWasAnswered).join(' ')}
      </p>
      <ul class="answered" aria-live="polite" aria-label="Answered">
        {sent.map((given) => (
          <li key={`${keyOf(given.target)} ${given.at}`} class="note">
            <span>
              <Icon name="check" /> {whatWasAnswered(given)} <Time seconds={given.at} />
            </span>
            <OpenSession target={given.target} />
          </li>
        ))}
      </ul>
    </>
  )
}

function whatWasAnswered({ label, target: { app, request } }: GivenAnswer): string {
  return visibleLine(`${label}: ${request.tool} for ${request.userId} in ${app}.`)
}

/** An answered request takes the focus with it; the first request that is left gets it. */
function useKeptFocus(list: RefObject<HTMLUListElement | null>, count: number | undefined): void {
  const before = useRef(count)
  useEffect(() => {
    const isShorter = before.current !== undefined && count !== undefined && count < before.current
    before.current = count
    const first = list.current?.firstElementChild
    if (isShorter && document.activeElement === document.body && first instanceof HTMLElement) first.focus()
  }, [count])
}

/** Moves the focus to another request. The approve button is reached with the tab key from there. */
function move(list: HTMLUListElement | null, step: number): void {
  const items = [...(list?.children ?? [])].filter((item) => item instanceof HTMLElement)
  const now = items.findIndex((item) => item.contains(document.activeElement))
  const next = items[now < 0 ? 0 : Math.min(items.length - 1, Math.max(0, now + step))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
