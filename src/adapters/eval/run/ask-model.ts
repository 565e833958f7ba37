// Asks a model one thing, outside of a conversation: judges and simulated users do.
import { type Content, textOf } from '../../../core/content/content.ts'
import type { LlmRequest } from '../../../engine/model/llm-request.ts'
import type { Model } from '../../../engine/model/model.ts'

/** What a model is asked. */
export interface Question {
  /** The system instruction. */
  readonly instruction: string
  /** The conversation. */
  readonly contents: readonly Content[]
  /** Aborts the question. */
  readonly signal: AbortSignal
}

/** The text of the answer. Throws if the model fails or answers nothing. */
export async function askModel(model: Model, { instruction, contents, signal }: Question): Promise<string> {
  const request: LlmRequest = {
    model: model.name,
    contents: [...contents],
    config: { systemInstruction: instruction },
    tools: new Map(),
    appendInstruction: () => {},
    appendConfigTool: () => {},
  }
  for await (const { partial, content, errorCode, errorMessage } of model.generate(request, { signal })) {
    if (errorCode !== undefined) throw new Error(`Model "${model.name}" failed: ${errorMessage ?? errorCode}`)
    if (!partial && textOf(content) !== '') return textOf(content)
  }
  throw new Error(`Model "${model.name}" gave no answer.`)
}
