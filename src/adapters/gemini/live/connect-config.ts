import type { LiveConnectConfig } from '@google/genai'
import type { LiveConnectOptions } from '../../../engine/model/live-model.ts'
import { toGeminiTools } from '../request/tools.ts'
import type { LiveSettings } from './live-settings.ts'

const MODALITIES = { audio: 'AUDIO', text: 'TEXT' } as const

/** The settings of a session for the client, and whether Gemini runs the code it writes. */
export function connectConfig(
  { config, isVertex }: LiveSettings,
  { instruction, tools, resumeHandle, responseModality }: LiveConnectOptions,
): { config: LiveConnectConfig; runsCode: boolean } {
  const { entries, serverTools } = toGeminiTools(tools, { keepsBehavior: !isVertex })
  const responseModalities = responseModality
    ? [MODALITIES[responseModality]]
    : (config.responseModalities ?? ['AUDIO'])
  const whole = {
    inputAudioTranscription: {},
    ...(responseModalities.includes('AUDIO') && { outputAudioTranscription: {} }),
    ...config,
    responseModalities: [...responseModalities],
    ...(instruction && { systemInstruction: instruction }),
    ...(entries.length > 0 && { tools: entries }),
    sessionResumption: resumeHandle === undefined ? {} : { handle: resumeHandle },
  }
  // members that are undefined turn a default off; the names of modalities are the values of the enum
  return { config: whole as unknown as LiveConnectConfig, runsCode: serverTools.includes('codeExecution') }
}
