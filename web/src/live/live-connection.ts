import { isRecord } from '../../../src/core/base/json.ts'
import type { SessionKey } from '../api/types.ts'
import { connection } from '../state/connection.ts'
import { type Signal, signal } from '../state/signal.ts'
import { IDLE, type LiveFrame, type LiveView, withBreak, withFrame, withOpen, withTyped } from './live-view.ts'
import { Microphone } from './microphone.ts'
import { INPUT_RATE } from './pcm.ts'
import { Speaker } from './speaker.ts'

/** How long to wait before a broken connection is made again: at first, and at most. */
const [FIRST_RETRY_MS, LAST_RETRY_MS] = [250, 2000]

/** A live session of the page: its connection, microphone and speaker. A connection that breaks is made again. */
export class LiveConnection {
  /** What is known about it. */
  readonly view: Signal<LiveView> = signal(IDLE)
  /** The loudness of the microphone, from 0 to 1. Undefined without a microphone. */
  readonly level: Signal<number | undefined> = signal<number | undefined>(undefined)
  /** Is the microphone muted? */
  readonly isMuted: Signal<boolean> = signal(false)
  readonly #key: SessionKey
  /** Counts `open()` and the end of each session, so that a microphone that comes too late is let go. */
  #attempt = 0
  #socket: WebSocket | undefined
  #microphone: Microphone | undefined
  #speaker: Speaker | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  /** Breaks since the server said something. */
  #breaks = 0

  constructor(key: SessionKey) {
    this.#key = key
  }

  /** Connects, with or without the microphone. */
  async open({ withMicrophone }: { readonly withMicrophone: boolean }): Promise<void> {
    this.close()
    this.view.set({ ...IDLE, status: 'connecting' })
    this.#speaker = new Speaker()
    const attempt = ++this.#attempt
    if (withMicrophone && !(await this.#openMicrophone(attempt))) return
    this.#connect()
  }

  /** Sends typed text. */
  sendText(text: string): void {
    this.#send({ content: { role: 'user', parts: [{ text }] } })
    this.#update((view) => withTyped(view, text))
  }

  /** Mutes the microphone, or listens again. */
  toggleMute(): void {
    if (!this.#microphone) return
    this.#microphone.isMuted = !this.#microphone.isMuted
    this.isMuted.set(this.#microphone.isMuted)
  }

  /** Ends the session. */
  close(): void {
    this.#send({ close: true })
    this.#end(undefined)
  }

  #connect(): void {
    const socket = new WebSocket(addressOf(this.#key))
    this.#socket = socket
    socket.onopen = () => this.#update(withOpen)
    socket.onmessage = ({ data }: MessageEvent<unknown>) => this.#receive(data)
    socket.onclose = ({ code, reason }) => {
      if (this.#socket !== socket) return
      const { status } = this.view.value
      const isLocked = connection.value === 'locked' // the server has another token: trying again is of no use
      const isBroken = (LOST.has(code) && !isLocked) || reason.startsWith('SESSION_BUSY') // the server before may still hold the session
      if (isBroken && (status === 'open' || status === 'reconnecting')) this.#reconnect()
      else this.#end(code === 1000 ? undefined : reason || (LOST.has(code) ? BROKEN : `Closed (${code}).`))
    }
  }

  /** Tries again until the server is back, or the user ends the session. The microphone stays. */
  #reconnect(): void {
    this.#socket = undefined
    this.#speaker?.flush()
    this.#update(withBreak)
    const again = (): void => (connection.value === 'away' ? this.#reconnect() : this.#connect())
    this.#retry = setTimeout(again, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#breaks++))
  }

  async #openMicrophone(attempt: number): Promise<boolean> {
    let microphone: Microphone
    try {
      microphone = await Microphone.open({
        onSound: (data) => this.#send({ blob: { mime_type: `audio/pcm;rate=${INPUT_RATE}`, data } }),
        onLevel: (level) => this.level.set(level),
      })
    } catch (error) {
      if (attempt !== this.#attempt) return false
      const reason = error instanceof Error ? error.message : String(error)
      this.#end(`The microphone cannot be used: ${reason}. Allow it in the browser, or start with text only.`)
      return false
    }
    if (attempt !== this.#attempt) {
      microphone.close()
      return false
    }
    this.#microphone = microphone
    this.level.set(0)
    this.isMuted.set(false)
    return true
  }

  #receive(data: unknown): void {
    const frame: unknown = typeof data === 'string' ? JSON.parse(data) : undefined
    if (!isRecord(frame) || typeof frame.type !== 'string') return
    const live = frame as LiveFrame // written by the server of this page
    this.#breaks = 0
    if (live.type === 'audio') this.#speaker?.play(live.data, live.mimeType)
    else if (live.type === 'interrupted') this.#speaker?.flush()
    this.#update((view) => withFrame(view, live, Date.now() / 1000))
  }

  #send(frame: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame))
  }

  #end(problem: string | undefined): void {
    this.#attempt++
    clearTimeout(this.#retry)
    const socket = this.#socket
    this.#socket = undefined
    socket?.close()
    this.#microphone?.close()
    this.#microphone = undefined
    this.#speaker?.close()
    this.#speaker = undefined
    this.level.set(undefined)
    if (this.view.value.status === 'idle') return
    this.#update((view) => ({ ...view, status: 'closed', requests: [], problem: problem ?? view.problem }))
  }

  #update(change: (view: LiveView) => LiveView): void {
    this.view.update(change)
  }
}

const BROKEN = 'The server does not answer. Start again to continue this session.'
/** The server has gone, or the network. */
const LOST: ReadonlySet<number> = new Set([1001, 1006])

function addressOf({ app, userId, sessionId }: SessionKey): string {
  const query = new URLSearchParams({ app_name: app, user_id: userId, session_id: sessionId, frames: 'live' })
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/run_live?${query}`
}
