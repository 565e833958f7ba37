import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { PendingRequest } from '../../../src/core/event/pending-request.ts'
import { Progress } from '../chat/Progress.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Elapsed } from '../ui/Time.tsx'
import { Tree } from '../ui/Tree.tsx'
import { VisibleText } from '../ui/VisibleText.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import type { CallItem, LiveItem, SpeechItem } from './live-view.ts'

/** The distance from the end at which the list follows new items. */
const END_PIXELS = 80

/** Props of the transcript. */
export interface TranscriptProps {
  /** What was said and called. */
  readonly items: readonly LiveItem[]
  /** The open requests, whose calls wait. */
  readonly requests: readonly PendingRequest[]
}

/** What both sides said, and the calls between. */
export function Transcript({ items, requests }: TranscriptProps): JSX.Element {
  const list = useRef<HTMLElement>(null)
  const isAtEnd = useRef(true)
  const follow = (): void => {
    if (isAtEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight })
  }
  useLayoutEffect(follow, [items])
  useEffect(() => {
    if (!list.current) return
    const observer = new ResizeObserver(follow) // a request below takes space from the list
    observer.observe(list.current)
    return () => observer.disconnect()
  }, [])
  const remember = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = list.current ?? {}
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_PIXELS
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the transcript is scrolled with the keyboard
    <section class="transcript" ref={list} onScroll={remember} tabIndex={0} aria-label="Transcript">
      {items.length === 0 && <p class="empty">What both sides say appears here.</p>}
      <ol>
        {items.map((item) => (
          <li key={item.id}>
            <Item item={item} requests={requests} />
          </li>
        ))}
      </ol>
      <div class="visually-hidden" aria-live="polite">
        {lastFinished(items)}
      </div>
    </section>
  )
}

function Item({ item, requests }: { readonly item: LiveItem } & Pick<TranscriptProps, 'requests'>): JSX.Element {
  switch (item.type) {
    case 'speech':
      return <Speech item={item} />
    case 'call':
      return <Call item={item} isWaiting={requests.some((one) => one.functionCallId === item.call.id)} />
    case 'note':
      return <p class="note">{visibleLine(item.text)}</p>
  }
}

const SPEAKERS = { user: 'You', model: 'Agent' } as const

function Speech({ item: { speaker, text, isFinished, isThought } }: { readonly item: SpeechItem }): JSX.Element {
  return (
    <p class={`speech ${speaker}${isFinished ? '' : ' open'}${isThought ? ' thought' : ''}`}>
      <strong>{isThought ? 'Thinking' : SPEAKERS[speaker]}</strong>
      <VisibleText text={text} />
    </p>
  )
}

function Call({ item, isWaiting }: { readonly item: CallItem; readonly isWaiting: boolean }): JSX.Element {
  const { call, status, startedAt, endedAt, response, progress } = item
  const shown = status === 'running' && isWaiting ? 'waiting for you' : status
  return (
    <article class={`live-call ${status}`} aria-label={`Call of ${visibleLine(call.name)}: ${shown}`}>
      <header>
        <Icon name={status === 'done' ? 'check' : status === 'running' ? 'clock' : 'warning'} />
        <strong class="tool-name">{visibleLine(call.name)}</strong>
        <span class="muted">{shown}</span>
        <Elapsed from={startedAt} to={endedAt} />
      </header>
      {status === 'running' && progress !== undefined && <Progress value={progress} />}
      <details>
        <summary>Arguments and result</summary>
        <Tree label="Arguments" value={call.args} />
        {response && <Tree label="Result" value={response.response} />}
      </details>
    </article>
  )
}

/** The last thing that the model said, for screen readers. */
function lastFinished(items: readonly LiveItem[]): string {
  const last = items.findLast((item) => item.type === 'speech' && item.speaker === 'model' && item.isFinished)
  return last?.type === 'speech' ? visibleLine(last.text) : ''
}
