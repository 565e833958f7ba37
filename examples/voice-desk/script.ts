// What the model does in the offline call: what it hears, says and calls. The server speaks the protocol of the Gemini Live API.
import type { JsonObject } from 'toolwright'
import { type GeminiLiveConnection, type GeminiLiveServer, geminiLiveServer } from 'toolwright/testing'

export async function startServer(): Promise<GeminiLiveServer> {
  return await geminiLiveServer({ onConnection: playCall })
}

async function playCall(call: GeminiLiveConnection): Promise<void> {
  await call.next('realtimeInput') // the microphone is on
  hear(call, 'Hello, I would like to pay my bill.')
  say(call, 'Gladly. What are your account number and your year of birth?')
  call.turnComplete()

  hear(call, 'A-7, and 1815.')
  call.call([{ id: 'c1', name: 'take_payment', args: { amount: 300 } }]) // too early: the phase refuses it
  await response(call)
  call.call([{ id: 'c2', name: 'verify_identity', args: { account: 'A-7', birthYear: 1815 } }])
  await response(call)
  call.call([{ id: 'c3', name: 'search_plans' }])
  say(call, 'Thank you, Ada. I am looking for plans. What can you pay each month?')
  call.turnComplete()

  hear(call, 'About fifty.')
  const { status } = await response(call)
  say(call, `The search is ${status}. You can pay 50 EUR for six months, or 100 EUR for three.`)
  call.turnComplete()

  hear(call, 'Six months, please.')
  call.call([{ id: 'c4', name: 'agree_plan', args: { months: 6 } }])
  await response(call)
  call.call([{ id: 'c5', name: 'take_payment', args: { amount: 50 } }])
  say(call, 'One moment. A colleague confirms the payment.')
  call.turnComplete()

  const { error, balance } = await response(call)
  say(call, error ? `I cannot charge it: ${error}` : `It is paid. You still owe ${balance} EUR.`)
  call.turnComplete()

  hear(call, 'Thank you, goodbye.')
  call.call([{ id: 'c6', name: 'hang_up' }])
  await response(call)
  call.turnComplete()
}

function hear(call: GeminiLiveConnection, words: string): void {
  call.inputTranscript(words)
}

/** Speaks: a second of silence as audio, and the words as its transcript. */
function say(call: GeminiLiveConnection, words: string): void {
  call.audio(new Uint8Array(48_000))
  call.outputTranscript(words)
}

interface ToolResponses {
  readonly functionResponses: readonly { readonly willContinue?: boolean; readonly response: JsonObject }[]
}

/** The next final response of the client to a call. Acknowledgements, such as `{ status: 'running' }`, come before it. */
async function response(call: GeminiLiveConnection): Promise<JsonObject> {
  for (;;) {
    const { toolResponse } = (await call.next('toolResponse')) as { readonly toolResponse: ToolResponses }
    const final = toolResponse.functionResponses.find(({ willContinue }) => !willContinue)
    if (final) return final.response
  }
}
