// The two people at the terminal: the caller, and the colleague who confirms payments.
import { createInterface, type Interface } from 'node:readline/promises'
import type { ConfirmationProvider } from 'toolwright'
import type { LiveSession } from 'toolwright/live'

let open: Interface | undefined
const lines = (): Interface => (open ??= createInterface({ input: process.stdin, output: process.stdout }))

/** Asks at the terminal, while the model speaks. Without a terminal it approves; with a reason it denies. */
export function confirmWith(reason: string | undefined): ConfirmationProvider {
  return async ({ hint = 'Continue?' }, { signal }) => {
    const answer = await decide(hint, signal)
    const confirmed = answer.startsWith('y')
    console.log(`[confirmation] ${hint} ${confirmed ? 'yes' : 'no'}`)
    return confirmed ? { confirmed } : { confirmed, hint: reason ?? 'The colleague said no.' }
  }

  async function decide(hint: string, signal: AbortSignal): Promise<string> {
    if (reason !== undefined) return 'no'
    return process.stdin.isTTY ? await lines().question(`? ${hint} (y/n) `, { signal }) : 'yes'
  }
}

/** A microphone: sends audio all the time, here silence. The model decides when the caller has spoken. */
export function keepSpeaking(session: LiveSession): () => void {
  const frame = new Uint8Array(640) // 20 ms: 16-bit PCM, 16 kHz
  const timer = setInterval(() => session.send({ audio: frame }).catch(() => {}), 20) // fails when the call has ended
  return () => {
    clearInterval(timer)
    open?.close()
  }
}

/** Sends the lines that the caller types. */
export function sendLines(session: LiveSession): () => void {
  console.log('Type what you say. Ctrl+D ends the call.')
  lines().on('line', (line) => void (line.trim() && session.send(line).catch(console.error)))
  lines().on('close', () => void session.close())
  return () => lines().close()
}
