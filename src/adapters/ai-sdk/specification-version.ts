import { kindOf } from '../../core/base/kind-of.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { AiSdkModel } from './ai-sdk-types.ts'

const VERSIONS = ['v2', 'v3', 'v4'] as const

/** A supported version of the AI SDK's model specification. */
export type SpecificationVersion = (typeof VERSIONS)[number]

/** The specification version of a model. Throws INVALID_CONFIG for other values and for unsupported versions. */
export function readVersion(model: AiSdkModel): SpecificationVersion {
  if (typeof model !== 'object' || model === null || typeof model.doGenerate !== 'function')
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `fromAiSdk() takes a model of an AI SDK provider, got ${kindOf(model)}. Pass a model object, for example openai('gpt-5') from "@ai-sdk/openai".`,
    )
  const version = VERSIONS.find((one) => one === model.specificationVersion)
  if (version) return version
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `Model "${model.modelId}" has specificationVersion "${model.specificationVersion}", but fromAiSdk() supports ${VERSIONS.join(', ')}. Install a version of its provider package with one of these.`,
  )
}
