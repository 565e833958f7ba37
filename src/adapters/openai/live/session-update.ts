import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { LiveConnectOptions } from '../../../engine/model/live-model.ts'
import type { ConfigTool } from '../../../engine/model/llm-request-config.ts'
import type { OpenAiRealtimeConfig } from './options.ts'
import type { ToolNames } from './tool-names.ts'

// without transcripts, the words of the user would be missing in the event log
const TRANSCRIPTION = { model: 'gpt-transcribe' }

/** Instruction and tools of a session. An undefined member stays as it is. */
interface SessionChange {
  /** The system instruction. */
  readonly instruction?: string | undefined
  /** Function declarations. */
  readonly tools?: readonly ConfigTool[] | undefined
}

/** The first event of a session: instruction, tools and settings. */
export function toFirstUpdate(
  { responseModality, ...change }: SessionChange & Pick<LiveConnectOptions, 'responseModality'>,
  config: OpenAiRealtimeConfig,
  names: ToolNames,
): JsonObject {
  const { audio } = config
  const transcription = audio?.input?.transcription === undefined ? TRANSCRIPTION : audio.input.transcription
  return {
    type: 'session.update',
    session: {
      ...config,
      ...(responseModality && { output_modalities: [responseModality] }),
      audio: { ...audio, input: { ...audio?.input, transcription } },
      ...toSession(change, config, names),
    },
  }
}

/** Changes the instruction or the tools of a session. */
export function toUpdate(change: SessionChange, config: OpenAiRealtimeConfig, names: ToolNames): JsonObject {
  return { type: 'session.update', session: toSession(change, config, names) }
}

/** The changed members. Tools of the settings stay declared when the tools of the agent change. */
function toSession({ instruction, tools }: SessionChange, config: OpenAiRealtimeConfig, names: ToolNames): JsonObject {
  const ownTools = Array.isArray(config.tools) ? config.tools : []
  return {
    type: 'realtime',
    ...(instruction !== undefined && { instructions: instruction }),
    ...(tools && { tools: [...tools.flatMap((tool) => toFunctions(tool, names)), ...ownTools] }),
  }
}

function toFunctions(tool: ConfigTool, names: ToolNames): JsonObject[] {
  if (!tool.functionDeclarations)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `OpenAI Realtime cannot run the server tool "${Object.keys(tool).join(', ')}". Remove the tool, or use a function.`,
    )
  return tool.functionDeclarations.map(({ name, description, parametersJsonSchema }) => ({
    type: 'function',
    name: names.toProvider(name),
    description,
    parameters: isRecord(parametersJsonSchema) ? parametersJsonSchema : { type: 'object', properties: {} },
  }))
}
