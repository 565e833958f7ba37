// A process that sends a picture, gets another one as a tool result, and is killed during the next model call.
import { flushCompileCache } from 'node:module'
import { LlmAgent, type Model, Runner, tool, withParts } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'

/** What the process does, as its only argument in JSON. */
export interface MediaProcessCommand {
  /** The SQLite file. */
  readonly file: string
  /** Requested when the model is called with the tool result. Never answers. */
  readonly url: string
}

export const mediaSession = { userId: 'ada', sessionId: 's1' }

export const picture = (byte: number, bytes = 60_000): { mimeType: string; data: string } => ({
  mimeType: 'image/png',
  data: Buffer.alloc(bytes, byte).toString('base64'),
})

export function mediaRunner(file: string, model: Model, now: () => number = Date.now): Runner {
  const draw = tool({
    name: 'draw',
    description: 'Draws',
    effect: 'none',
    run: () => withParts({ status: 'drawn' }, [{ inlineData: picture(2) }]),
  })
  const agent = new LlmAgent({ name: 'painter', model, tools: [draw] })
  return new Runner({ appName: 'app', agent, ...sqlite(file, { now }) })
}

if (import.meta.main) {
  flushCompileCache() // the process is killed and cannot do it at its exit
  const { file, url } = JSON.parse(process.argv[2] ?? '') as MediaProcessCommand
  const model: Model = {
    name: 'hanging',
    async *generate({ contents }) {
      if (contents.at(-1)?.role === 'tool') await fetch(url)
      yield { content: { role: 'model', parts: [{ functionCall: { name: 'draw', args: {} } }] } }
    },
  }
  await mediaRunner(file, model).complete({
    ...mediaSession,
    message: [{ text: 'Like this.' }, { inlineData: picture(1) }],
  })
}
