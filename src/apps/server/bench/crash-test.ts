// Plays crashes around one tool of an app with `chaos()`. Its body really runs, again and again.
import type { ChaosReport } from '../../../adapters/testing/chaos/chaos.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { loadLater } from '../../../core/base/load-later.ts'
import { systemPorts } from '../../../core/base/ports.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import { ToolDispatcher } from '../../../engine/runner/single-call/tool-dispatcher.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { InMemoryArtifactService } from '../../../services/artifact/in-memory.ts'
import { invalid } from '../wire/fields.ts'
import { describeTool } from './describe-tool.ts'

const testing = loadLater(() => import('../../../adapters/testing/chaos/chaos.ts'))

/** How many stories are played: each with one fault, and some with several. */
const STORIES = 25
/** How long a test may take, in milliseconds. */
const MAX_MS = 60_000

/** A tool, and the tool that shows what it has done. */
interface CrashTest {
  /** The tool. */
  readonly tool: Tool
  /** The arguments of each call. */
  readonly args: JsonObject
  /** Its result is what has happened outside. */
  readonly reader: Tool
  /** The arguments of the reader. */
  readonly readerArgs: JsonObject
}

/** Tests a tool. Throws INVALID_REQUEST if it cannot be judged, and when it takes too long; `signal` ends it. */
export async function runCrashTest(test: CrashTest, signal: AbortSignal): Promise<ChaosReport> {
  const { tool, args, reader, readerArgs } = test
  const { effect, needsConfirmation, hasAuth } = describeTool(reader) ?? {}
  if (effect !== 'none' || needsConfirmation !== 'never' || hasAuth)
    throw invalid(`Tool "${reader.name}" cannot show what has happened: it must have effect "none" and no gate.`)
  const ended = new AbortController()
  const stopped = AbortSignal.any([signal, ended.signal])
  const dispatcher = new ToolDispatcher().register(reader)
  const outside = async (): Promise<unknown> => {
    stopped.throwIfAborted() // what it throws ends the story, and the test
    return onlyMember(await dispatcher.call(reader.name, readerArgs, { signal: stopped }))
  }
  try {
    const { chaos } = await testing()
    const playing = chaos(tool, { args, outside, stories: STORIES, artifactService: new InMemoryArtifactService() })
    return await withTimeout(playing, MAX_MS, systemPorts, () => {
      throw invalid(`The test took longer than ${MAX_MS / 1000} s. Test the tool with chaos() in a test of your own.`)
    })
  } catch (error) {
    if (error instanceof ToolwrightError && error.code === 'INVALID_REQUEST') throw error
    throw new ToolwrightError('INVALID_REQUEST', messageOf(error), { cause: error })
  } finally {
    ended.abort()
    await dispatcher.shutdown()
  }
}

/** A tool returns an object, and a list in it grows with each effect. */
function onlyMember(result: unknown): unknown {
  const members = isRecord(result) ? Object.values(result) : []
  return members.length === 1 ? members[0] : result
}
