// For scenarios about lost connections: what a connection was told, and quick attempts to connect again.
import type { JsonObject } from 'toolwright'
import type { GeminiLiveConnection } from 'toolwright/testing'
import { createDeferred, plainTool } from './kit.ts'
import type { LiveTest } from './live-kit.ts'

/** Connects again at once. */
export const QUICK = { delayMs: 1, maxDelayMs: 5 } as const

/** What a connection was told in one message. */
export interface Told {
  /** The messages, as `role: text`. */
  readonly turns: string[]
  /** Does the model have to reply? */
  readonly turnComplete: boolean
}

/** The next message with contents. */
export async function nextTold(connection: GeminiLiveConnection): Promise<Told> {
  const { clientContent } = (await connection.next('clientContent')) as { clientContent: SentContent }
  return toldIn(clientContent)
}

/** Everything that a connection got after its setup: messages with contents, texts, and ids of answered calls. */
export function allTold(connection: GeminiLiveConnection): (Told | string | string[])[] {
  return connection.received.slice(1).map((message) => {
    const { clientContent, realtimeInput, toolResponse } = message as Partial<SentMessage>
    if (clientContent) return toldIn(clientContent)
    if (toolResponse) return toolResponse.functionResponses.map(({ id }) => id)
    return realtimeInput?.text ?? Object.keys(realtimeInput ?? message).join()
  })
}

type SentContent = { turns?: { role: string; parts: { text: string }[] }[]; turnComplete: boolean }
interface SentMessage {
  readonly clientContent: SentContent
  readonly realtimeInput: { text?: string }
  readonly toolResponse: { functionResponses: { id: string }[] }
}

function toldIn({ turns = [], turnComplete }: SentContent): Told {
  return { turns: turns.map(({ role, parts }) => `${role}: ${parts.map(({ text }) => text).join('')}`), turnComplete }
}

/** A tool that runs until the test lets it finish. */
export interface SlowTool {
  readonly tool: ReturnType<typeof plainTool>
  /** How often it has started. */
  readonly runs: number
  /** Settles when it has started. */
  readonly started: Promise<AbortSignal>
  finish(result?: JsonObject): void
}

export function slowTool(name = 'look_up'): SlowTool {
  const started = createDeferred<AbortSignal>()
  const finished = createDeferred<JsonObject>()
  let runs = 0
  const tool = plainTool(name, (_args, { signal }) => {
    runs++
    started.resolve(signal)
    return finished.promise
  })
  return {
    tool,
    get runs() {
      return runs
    },
    started: started.promise,
    finish: (result = { found: 7 }) => finished.resolve(result),
  }
}

/** Waits until the session has read everything that the server has sent. An empty transcript is shown and not recorded. */
export async function readBySession(connection: GeminiLiveConnection, event: LiveTest['event']): Promise<void> {
  connection.inputTranscript(' ')
  for (;;) if ((await event('inputTranscript')).text === ' ') return
}

/** Replies to the user. */
export function reply(connection: GeminiLiveConnection, text: string): void {
  connection.say(text)
  connection.generationComplete()
  connection.turnComplete()
}
