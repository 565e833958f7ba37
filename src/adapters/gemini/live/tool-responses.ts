import type { FunctionResponse as SdkFunctionResponse, Session } from '@google/genai'
import type { FunctionResponse, Part } from '../../../core/content/content.ts'
import { hasHiddenMedia, shownResponse } from '../../../engine/agent/request/shown-response.ts'
import { fitsInsideResponse, toGeminiResponse } from '../request/function-responses.ts'

/** The model that gets the responses. */
interface ResponseTarget {
  /** Whether it is a model of Vertex AI. */
  readonly isVertex: boolean
  /** Whether the model accepts media in responses. */
  readonly isGemini3: boolean
}

/** Sends responses to tool calls. Images that do not fit into a response are sent as video frames before it. */
export function sendToolResponses(
  session: Session,
  responses: readonly FunctionResponse[],
  target: ResponseTarget,
): void {
  if (responses.length === 0) return // the client throws an error for an empty list
  const functionResponses = responses.map((response) => {
    const media = hasHiddenMedia(response) ? [] : (response.parts ?? [])
    const inside = media.filter((part) => target.isGemini3 && fitsInsideResponse(part))
    for (const part of media) if (!inside.includes(part)) sendImage(session, part)
    return toSdkResponse(response, inside, target)
  })
  session.sendToolResponse({ functionResponses })
}

function toSdkResponse(
  given: FunctionResponse,
  media: readonly Part[],
  { isVertex }: ResponseTarget,
): SdkFunctionResponse {
  const { willContinue, scheduling } = given
  const parts = media.map(({ inlineData, fileData }) => ({ ...(inlineData ? { inlineData } : { fileData }) }))
  const sent = {
    id: undefined, // the client wants the key even for a call that has no id
    ...toGeminiResponse({ ...given, response: shownResponse(given) }, parts),
    ...(!isVertex && willContinue !== undefined && { willContinue }),
    ...(!isVertex && scheduling !== undefined && { scheduling }),
  }
  // the client checks only that the keys exist; the names of scheduling are the values of its enum
  return sent as unknown as SdkFunctionResponse
}

function sendImage(session: Session, { inlineData }: Part): void {
  if (!inlineData?.mimeType.startsWith('image/')) return
  const { data, mimeType } = inlineData
  session.sendRealtimeInput({ video: { data, mimeType } })
}
